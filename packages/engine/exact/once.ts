/** Values that are made on first use and kept. */
type Values<Key, Value> = { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown }

/** The value of a key, made when it is first asked for. A value may be null, but never undefined. */
export function once<Key, Value>(values: Values<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  let value = values.get(key)
  if (value === undefined) {
    value = make(key)
    values.set(key, value)
  }
  return value
}
