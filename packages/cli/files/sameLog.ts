/**
 * Tells whether a folder can be continued from this service: its last record must be in the log, committed at the same
 * time, or be the last one that retention has deleted. Otherwise files would miss records or mix two logs.
 */
import { EXIT, Failure } from '../exit.ts'
import type { ServiceChoice } from '../options.ts'
import { time } from '../terminal/words.ts'
import type { Content, ExportFolder, Piece } from './folder.ts'
import { ExportRefusal, numberIn, requestExport } from './request.ts'

/** Every epoch has its own range of sequences; a log serves the records of its last one. */
const POSITIONS_PER_EPOCH = 2 ** 40
const epochOf = (sequence: number): number => Math.floor(sequence / POSITIONS_PER_EPOCH)

export function assertSameLog(answer: Response, folder: ExportFolder, { last }: Piece): void {
  const said = answer.headers.get('assay-after-committed-ms')
  const noted = folder.committedMs(last)
  // The service answers only above its oldest record but one: without the record, it is the last that was deleted.
  if (said === 'none' || noted === null || noted === Number(said)) return
  throw otherLog(
    folder,
    `has record ${last} from ${time(Number(said))} UTC, and the folder ends with record ${last} from ${time(noted)} UTC: it is another log`,
  )
}

/** The refusal of a range, in terms of the folder. */
export async function explained(
  failure: unknown,
  service: ServiceChoice,
  { folder, kind, last }: { readonly folder: ExportFolder } & Pick<Content, 'kind'> & Pick<Piece, 'last'>,
): Promise<unknown> {
  if (!(failure instanceof ExportRefusal) || failure.status !== 400) return failure
  const { oldest, head, epoch } = await boundsOf(service, kind)
  if (last > head)
    return otherLog(
      folder,
      `ends at record ${head}, and the folder at ${last}: it is another log, or an older copy`,
    )
  if (epochOf(last) < epoch)
    return new Failure(
      `the log began epoch ${epoch}, as after a restore from a backup, and ${folder.path} ends at record ${last} of epoch ${epochOf(last)}: records published in between are missing, and the last records of the folder may no longer be in the log. Begin a new folder: --folder ${folder.path}-epoch${epoch}`,
      EXIT.absent,
    )
  if (last + 1 < oldest)
    return new Failure(
      `records ${last + 1} to ${oldest - 1} are missing: ${folder.path} ends at ${last}, and the log now begins at ${oldest}. Begin a new folder: --folder ${folder.path}-${oldest} --after ${oldest - 1}`,
      EXIT.absent,
    )
  return failure
}

const otherLog = ({ path }: ExportFolder, words: string): Failure =>
  new Failure(
    `the service ${words}. Select the service with --url, or begin a new folder instead of ${path}`,
    EXIT.misused,
  )

/** Of the present epoch. */
async function boundsOf(service: ServiceChoice, kind: string) {
  const answer = await requestExport(service, new URLSearchParams({ kind, format: 'ndjson' }))
  await answer.body.cancel()
  return {
    oldest: numberIn(answer, 'after-sequence') + 1,
    head: numberIn(answer, 'to-sequence'),
    epoch: numberIn(answer, 'epoch'),
  }
}
