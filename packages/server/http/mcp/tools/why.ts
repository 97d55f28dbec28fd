/** The tool `why`: the components of a score and what limits it, or which paths failed and by how much. */
import type { PricedQuote, TokenQuote, UnpricedQuote } from '@assay/sdk'
import { PRICE_FIELDS, priceOf, refusedPrice } from '../price.ts'
import {
  list,
  object,
  text,
  textOrNull,
  TOKEN,
  type Tool,
  type TokenArguments,
  whole,
  yesOrNo,
} from '../tool.ts'
import { capWords, ruleWords } from '../words.ts'

/** As many as a reader can compare. */
const MOST_CANDIDATES = 8
const MOST_ROUTES = 8

const COMPONENT = object({
  name: text('What was looked at, such as path_agreement or material_routes.'),
  score: whole('What it scores from 0 to 10; the least of all components and caps is the score.'),
  inputs: {
    type: 'object',
    description: 'Its inputs, by name.',
    additionalProperties: { type: 'string' },
  },
})
const CAP = object({
  code: text('The rule.'),
  cap: whole('The score can be no higher than this.'),
  holds: yesOrNo('Whether it is one of those that hold the score where it is.'),
  meaning: text('The rule in a sentence.'),
})
const CANDIDATE = object({
  route_id: text('The pools of the path; empty where none was found.'),
  rule: text('The rule it failed.'),
  meaning: text('The rule in a sentence.'),
  actual: textOrNull("What it had, in the rule's own unit."),
  required: textOrNull('What it needed.'),
})
const ROUTE = object({
  route_id: text('The pools of the path.'),
  accepted: yesOrNo('Whether it took part in the price.'),
  selected: yesOrNo('Whether its value is the price.'),
  score: whole('Its own score.'),
  weight_microusd: text('Its weight in the vote, in millionths of a dollar of depth.'),
  reason: textOrNull('Why it was not accepted.'),
  meaning: textOrNull('The reason in a sentence.'),
})

export const WHY: Tool = {
  name: 'why',
  title: 'Why this price, this score, or no price',
  description:
    'Explains a token: which components and caps its confidence score is the least of, which routes took part in the price, and for a token without a price the closest routes, the rule each failed, its value and the value required. Use it before relying on a low score or when price_usd is null.',
  input: object(TOKEN),
  output: object({
    ...PRICE_FIELDS,
    components: list(COMPONENT, 'What the score is the least of; empty without a price.'),
    caps: list(CAP, 'Limits on the score, the tightest first.'),
    routes: list(ROUTE, 'The heaviest paths; empty without a price, and for a stable.'),
    candidates: list(CANDIDATE, 'The nearest paths of a token without a price.'),
  }),
  async run(given, asked) {
    const token = given as unknown as TokenArguments
    const nothing = { components: [], caps: [], routes: [], candidates: [] }
    try {
      const quote: TokenQuote = await asked.client.quoteToken(token)
      const price = priceOf(token, quote, asked)
      if (quote.state === 'PRICED') return { ...price, ...nothing, ...supportOf(quote) }
      if (quote.state === 'UNPRICED') return { ...price, ...nothing, candidates: candidatesOf(quote) }
      return { ...price, ...nothing }
    } catch (failure) {
      return { ...refusedPrice(token, failure, asked), ...nothing }
    }
  },
}

const supportOf = ({ confidence, routes }: PricedQuote) => ({
  components: Object.entries(confidence.components).map(([name, component]) => ({
    name,
    score: component.score,
    inputs: inputsOf(component),
  })),
  caps: confidence.caps
    .toSorted((a, b) => a.cap - b.cap)
    .map(({ code, cap }) => ({ code, cap, holds: cap <= confidence.score, meaning: capWords(code) })),
  routes: routes
    .toSorted((a, b) => heavier(a.weight_microusd, b.weight_microusd))
    .slice(0, MOST_ROUTES)
    .map(({ route_id, accepted, selected, score, weight_microusd, reason }) => ({
      route_id,
      accepted,
      selected,
      score,
      weight_microusd,
      reason,
      meaning: reason === null ? null : ruleWords(reason),
    })),
})

const candidatesOf = ({ candidates }: UnpricedQuote) =>
  candidates.slice(0, MOST_CANDIDATES).map(({ route_id, rule, actual, required }) => ({
    route_id,
    rule,
    meaning: ruleWords(rule),
    actual,
    required,
  }))

/** Plain values beside the score; nested objects are in the quote over HTTP. */
const inputsOf = (component: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(component)
      .filter(([name, value]) => name !== 'score' && (typeof value === 'number' || typeof value === 'string'))
      .map(([name, value]) => [name, String(value)]),
  )

const heavier = (a: string, b: string): number =>
  Number(BigInt(b) > BigInt(a)) - Number(BigInt(b) < BigInt(a))
