/** The tools for agents without the service: what `assay mcp` serves over stdio. */
export { answerToLine } from '../http/mcp/line.ts'
