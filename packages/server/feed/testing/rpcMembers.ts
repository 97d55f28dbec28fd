/** The members of an answer by JSON-RPC, for texts of random JSON that a reader takes for one. */
export const RPC_MEMBERS = ['jsonrpc', 'id', 'result', 'error', 'code', 'message'] as const
