/** A process that commits until the device refuses, and then tries once more: what it met, as a line of JSON. */
import { StoreError } from '../storeError.ts'
import { openAsProcess } from './connect.ts'
import { scriptedCommit } from './script.ts'

const store = await openAsProcess(process.argv[2] as string)
let step = 1
const attempt = async (): Promise<string | null> => {
  try {
    await store.commit(scriptedCommit(1, step))
    return null
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure
    return `${failure.code} ${failure.message}`
  }
}
let first = await attempt()
while (first === null) {
  step++
  first = await attempt()
}
const second = await attempt()
const { head } = await store.readBounds()
process.stdout.write(JSON.stringify({ acknowledged: step - 1, first, second, head }))
await store.close()
