/** `assay keys issue`: through the running service, or in the store of the configuration when it is stopped. */
import { issueKeyIn } from '@assay/server/config'
import { configOf } from './configOf.ts'

type Options = {
  readonly config?: string
  readonly name: string
  readonly scopes: string
  readonly consumer?: string
  readonly json?: boolean
}

export async function issueKey(options: Options): Promise<void> {
  const scopes = options.scopes.split(',').map(scope => scope.trim())
  const { key, keyId } = await issueKeyIn(configOf(options), {
    name: options.name,
    consumer: options.consumer ?? options.name,
    scopes,
  })
  console.log(
    options.json === true
      ? JSON.stringify({ key_id: keyId, key, name: options.name, scopes })
      : `${key}\n\nThis is the only time the key is shown.`,
  )
}
