/**
 * A full screen that redraws itself and restores the terminal at the end: it uses the alternate screen, hides the
 * cursor, and reads keys one at a time.
 */
import { harmless } from '../terminal/harmless.ts'
import { widthOf } from '../terminal/table.ts'

const ENTER = '\u001B[?1049h\u001B[?25l'
const LEAVE = '\u001B[?25h\u001B[?1049l'
const HOME = '\u001B[H'
const REST_OF_LINE = '\u001B[K'
const REST_OF_SCREEN = '\u001B[J'
const FRAME_MS = 250

export type Screen = { close(): void }

/** `draw` returns the lines for a size; `press` receives each key. */
export function openScreen(
  draw: (rows: number, columns: number) => readonly string[],
  press: (key: string) => void,
): Screen {
  const { stdin, stdout } = process
  const frame = () => {
    const [columns, rows] = [stdout.columns || 80, stdout.rows || 24]
    const lines = draw(rows, columns).slice(0, rows).map(harmless)
    stdout.write(
      `${HOME}${lines.map(line => `${cut(line, columns)}${REST_OF_LINE}`).join('\r\n')}${REST_OF_SCREEN}`,
    )
  }
  const hear = (data: Buffer) => {
    press(String(data))
    frame()
  }
  stdout.write(ENTER)
  if (stdin.isTTY) {
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('data', hear)
  }
  stdout.on('resize', frame)
  const timer = setInterval(frame, FRAME_MS)
  frame()
  return {
    close() {
      clearInterval(timer)
      stdout.off('resize', frame)
      if (stdin.isTTY) {
        stdin.off('data', hear)
        stdin.setRawMode(false)
        stdin.pause()
      }
      stdout.write(LEAVE)
    },
  }
}

/** A line that is too long is cut at its end; colour codes are kept, so that colours end. */
function cut(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  let [kept, width, isColour] = ['', 0, false]
  for (const letter of line) {
    if (letter === '\u001B') isColour = true
    else if (!isColour) width += 1
    if (isColour || width <= columns) kept += letter
    if (letter === 'm') isColour = false
  }
  return kept
}
