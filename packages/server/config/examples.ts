/** Examples of a field: one for each form it can have. Together they are a sound value. */
import { type Field, type Fields, isOptional } from './field.ts'

export function examplesOf(field: Field): readonly unknown[] {
  if (field.examples !== undefined) return field.examples
  if ((field.default ?? null) !== null) return [field.default]
  switch (field.kind) {
    case 'list':
      return [examplesOf(field.item)]
    case 'mapping':
      return mappings(field.fields)
    case 'variants': {
      const { by } = field
      return Object.entries(field.forms).map(([name, form], at) => ({
        ...mappingAt({ ...field.shared, ...form }, at),
        ...(typeof by === 'string' ? { [by]: name } : {}),
      }))
    }
    case 'either':
      return [...examplesOf(field.plain), ...examplesOf(field.full)]
    case 'choice':
      return [field.choices[0]]
    case 'flag':
      return [true]
    case 'open':
      return [{}]
    case 'integer':
    case 'text':
    case 'url':
      throw new Error(`a key of the configuration has neither a default nor an example: ${field.about}`)
  }
}

/** As many as the key with the most examples has. */
function mappings(fields: Fields): readonly object[] {
  const most = Math.max(1, ...Object.values(fields).map(each => examplesOf(each).length))
  return Array.from({ length: most }, (_, at) => mappingAt(fields, at))
}

/** Further examples leave out what may be left out and has nothing new to show. */
function mappingAt(fields: Fields, at: number): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, each]) => {
      const examples = examplesOf(each)
      const own = examples[Math.min(at, examples.length - 1)]
      return at >= examples.length && isOptional(each) ? [] : [[key, own]]
    }),
  )
}
