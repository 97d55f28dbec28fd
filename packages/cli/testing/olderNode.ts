/** A module to `--import`: the process claims to be Node 20, with these facts in place of its own. */
export const olderNode = (facts: { readonly arch?: string; readonly execPath?: string }): string => {
  const versions = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.11.0'}})`
  const others = Object.entries(facts).map(
    ([name, value]) =>
      `Object.defineProperty(process,${JSON.stringify(name)},{value:${JSON.stringify(value)}})`,
  )
  return `data:text/javascript,${encodeURIComponent([versions, ...others].join(';'))}`
}
