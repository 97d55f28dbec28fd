/** Shows openapi.json as a page on which each operation can be tried. Text from the document is only ever set as text. */
import { code, make, table } from './docsParts.js'
import { setKey, tryIt } from './tryIt.js'

const METHODS = ['get', 'post', 'put', 'delete']

/** A component is shown by its name; its fields stand under Schemas. */
const nameOf = schema => {
  if (schema === undefined) return ''
  if (schema.$ref) return schema.$ref.split('/').at(-1)
  if (schema.anyOf) return schema.anyOf.map(nameOf).join(' | ')
  if (schema.enum) return schema.enum.join(' | ')
  if (schema.type === 'array') return `${nameOf(schema.items)}[]`
  return schema.type ?? JSON.stringify(schema.const)
}

/** Of a parameter, which is small, what its component is. */
const typeOf = (root, schema) =>
  nameOf(schema.$ref ? (root.components.schemas[schema.$ref.split('/').at(-1)] ?? schema) : schema)

/** What an answer holds: JSON by its schema, a file by its types. */
const bodyOf = content =>
  !content || content['application/json']
    ? nameOf(content?.['application/json'].schema)
    : Object.keys(content).join(' | ')

const resolve = (root, response) =>
  response.$ref ? root.components.responses[response.$ref.split('/').at(-1)] : response

function operationOf(root, path, method, operation) {
  const element = make('details')
  element.id = operation.operationId
  const head = make('summary')
  head.append(
    make('span', method.toUpperCase(), 'method'),
    make('code', path),
    make('span', ` ${operation.summary}`, 'about'),
  )
  element.append(head)
  if (operation.description) element.append(make('p', operation.description))
  // Forms and examples of forty operations are made when somebody looks at one.
  element.addEventListener('toggle', () => fill(root, path, method, operation, element), { once: true })
  return element
}

function fill(root, path, method, operation, element) {
  if (operation.parameters.length > 0)
    element.append(
      make('h4', 'Parameters'),
      table(
        ['name', 'in', 'type', 'about'],
        operation.parameters.map(each => [
          each.required ? `${each.name} *` : each.name,
          each.in,
          typeOf(root, each.schema),
          each.description ?? '',
        ]),
      ),
    )
  const body = operation.requestBody?.content['application/json']
  if (body) element.append(make('h4', `Body: ${nameOf(body.schema)}`), make('p', operation.requestBody.description))
  element.append(tryIt(path, method, operation), make('h4', 'Answers'))
  const answers = Object.entries(operation.responses).map(([status, each]) => [status, resolve(root, each)])
  element.append(
    table(
      ['status', 'body', 'about'],
      answers.map(([status, each]) => [
        status,
        bodyOf(each.content),
        each.description,
      ]),
    ),
  )
  for (const [status, each] of answers) {
    const example = each.content?.['application/json']?.example
    if (example !== undefined) element.append(make('h4', `A ${status}`), code(example))
  }
}

function show(root) {
  const main = document.getElementById('operations')
  main.replaceChildren()
  for (const { name, description } of root.tags) {
    const section = make('section')
    section.append(make('h2', name), make('p', description))
    for (const [path, operations] of Object.entries(root.paths))
      for (const method of METHODS)
        if (operations[method]?.tags.includes(name))
          section.append(operationOf(root, path, method, operations[method]))
    main.append(section)
  }
  const schemas = make('section')
  schemas.append(make('h2', 'Schemas'))
  for (const [name, schema] of Object.entries(root.components.schemas)) {
    const element = make('details')
    element.append(make('summary', name), code(schema))
    schemas.append(element)
  }
  main.append(schemas)
}

const keyField = document.getElementById('key')
keyField.addEventListener('input', () => setKey(keyField.value.trim()))

/** A link to an operation opens it. */
function openNamed() {
  const element = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (element instanceof HTMLDetailsElement) element.open = true
  element?.scrollIntoView()
}
addEventListener('hashchange', openNamed)

document.getElementById('find').addEventListener('input', event => {
  const wanted = event.target.value.trim().toLowerCase()
  for (const element of document.querySelectorAll('details'))
    element.hidden = !element.querySelector('summary').textContent.toLowerCase().includes(wanted)
})

try {
  const answer = await fetch('/openapi.json')
  show(await answer.json())
  openNamed()
} catch (failure) {
  document.getElementById('operations').textContent = `openapi.json could not be read: ${failure.message}`
}
