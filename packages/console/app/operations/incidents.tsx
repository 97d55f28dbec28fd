/** In the local world things can be made to go wrong from its own terminal: the lines to paste there. */
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copy.tsx'

const LINES = [
  ['Liquidity is pulled', 'npm run assay -- world incident rug --chain 1'],
  ['The last blocks are replaced', 'npm run assay -- world incident reorg --chain 1 --depth 2'],
  ['A stable loses its peg', 'npm run assay -- world incident stable-depeg --chain 1'],
  ['A chain stops', 'npm run assay -- world incident chain-halt --chain 56'],
  ['All that can happen', 'npm run assay -- world incidents'],
] as const

export const Incidents = () => (
  <Card name="Incidents">
    <p class="muted">
      These chains are a local world. Paste a line into another terminal and watch what becomes of the prices.
    </p>
    <ul class="plain incidents">
      {LINES.map(([about, line]) => (
        <li key={line}>
          <span>{about}</span> <Copyable text={line} what={`the command: ${about}`} />
        </li>
      ))}
    </ul>
  </Card>
)
