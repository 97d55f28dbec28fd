/** The configuration a command works on: the file it names, else the chains of `ASSAY_RPC_<chain_id>`. */
import { environmentConfig, loadConfig } from '@assay/server/config'

export const configOf = ({ config }: { readonly config?: string }): ReturnType<typeof loadConfig> =>
  config === undefined ? environmentConfig(process.env, { folder: '.' }) : loadConfig(config, process.env)
