/**
 * Runs before `npm test`: says in one line that this Node is too old, which would otherwise fail on the first line of
 * TypeScript. Plain JavaScript, because an older Node runs it.
 */
const OLDEST = 24

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  console.error(
    `Node ${OLDEST} is needed and this is ${process.versions.node}; \`npm install\` brings it on Linux x64 and arm64, not with --omit=optional or --ignore-scripts.`,
  )
  process.exitCode = 1
}
