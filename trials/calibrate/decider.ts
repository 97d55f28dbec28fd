/**
 * Finds the reason for a score: the component or cap of the published score that is as low as the score, and for a
 * material route that of its weakest hop.
 */
import type { Address } from '../../packages/engine/chain/block.ts'
import type { Edge, Route } from '../../packages/engine/price/evaluation.ts'
import type { Scenario } from '../../packages/engine/testing/scenario.ts'

export function decidedBy(scenario: Scenario, token: Address): string {
  const published = scenario.published(token)
  if (published.state === 'UNPRICED') return published.reason
  const { score, components, caps } = published.confidence
  const names: string[] = caps.filter(({ cap }) => cap <= score).map(({ code }) => code)
  for (const [name, component] of Object.entries(components)) {
    if (component.score > score) continue
    names.push(...(name === 'material_routes' ? hopsOf(scenario, token) : [name]))
  }
  return [...new Set(names)].sort().join('+')
}

/** For the weakest material routes; empty when the evaluation has changed since the record. */
function hopsOf(scenario: Scenario, token: Address): string[] {
  const { routes } = scenario.evaluation(token)
  const material = routes.filter(({ material }) => material)
  const least = Math.min(...material.map(({ score }) => score))
  return material.filter(({ score }) => score === least).flatMap(weakest)
}

function weakest({ edges, score }: Route): string[] {
  const holding = edges.filter(edge => edge.score <= score)
  if (holding.length === 0) return ['routing_asset']
  return holding.flatMap((edge: Edge) => [
    ...edge.caps.filter(({ cap }) => cap <= score).map(({ code }) => code),
    ...Object.entries(edge.components)
      .filter(([, component]) => component !== null && component.score <= score)
      .map(([name]) => `hop ${name}`),
  ])
}
