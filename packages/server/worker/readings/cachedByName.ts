/** Makes a value on first use and caches it; beyond `most` entries the oldest is dropped. */
export function cachedByName<Value>(most: number, make: (name: string) => Value): (name: string) => Value {
  const kept = new Map<string, Value>()
  return name => {
    const before = kept.get(name)
    if (before !== undefined) return before
    const [oldest] = kept.keys()
    if (kept.size >= most && oldest !== undefined) kept.delete(oldest)
    const made = make(name)
    kept.set(name, made)
    return made
  }
}
