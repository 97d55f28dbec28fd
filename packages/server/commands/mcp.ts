/** The tools for agents without the service: `assay mcp` serves them over stdio. */
export { answerToLine } from '../http/mcp/line.ts'
