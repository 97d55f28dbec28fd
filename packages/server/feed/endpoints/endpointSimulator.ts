/** Simulates calls on an endpoint that supports it, with a limited number of attempts on others. */
import type { EndpointSet } from './endpointSet.ts'
import type { Simulator } from './simulator.ts'

export function createSimulator(endpoints: EndpointSet, closed: AbortSignal): Simulator {
  return {
    ask: (method, params, signal) => {
      const until = AbortSignal.any([signal, closed])
      return endpoints.attempt(
        (endpoint, own) => endpoint.request(method, params, own, 'sellability'),
        () => false,
        { method, signal: until },
      )
    },
  }
}
