/** The faults of a policy, all in one error. */
export type PolicyFault = { readonly path: string; readonly received: string; readonly expected: string }

export class PolicyError extends Error {
  override readonly name = 'PolicyError'
  readonly code = 'INVALID_POLICY'
  readonly retryable = false
  readonly faults: readonly PolicyFault[]

  constructor(faults: readonly PolicyFault[]) {
    const lines = faults.map(
      fault => `  ${fault.path}: received ${fault.received}, expected ${fault.expected}`,
    )
    super(`the policy has ${faults.length} fault${faults.length === 1 ? '' : 's'}:\n${lines.join('\n')}`)
    this.faults = faults
  }
}
