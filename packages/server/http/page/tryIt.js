/**
 * The form with which an operation is tried: its parameters and body, the request as curl, and what came back. The key
 * stays in the memory of this page; without one the session of the console is used. Text is only ever set as text.
 */
import { fieldOf, make } from './docsParts.js'

const LONGEST_SHOWN = 100_000

/** Null before one is pasted. */
let key = null
export const setKey = value => {
  key = value === '' ? null : value
}

const shellQuoted = text => `'${text.replaceAll("'", `'\\''`)}'`

export function tryIt(path, method, operation) {
  const form = make('form', '', 'try')
  form.setAttribute('aria-label', `Try ${method.toUpperCase()} ${path}`)
  const fields = operation.parameters.map(each => ({ ...each, ...parameterField(operation.operationId, each) }))
  const body = operation.requestBody?.content['application/json']
  const text = body === undefined ? null : bodyField(operation, body)
  const curl = scrolling('')
  curl.className = 'curl'
  const send = make('button', 'Send')
  const status = make('p', '', 'status')
  status.setAttribute('role', 'status')
  const answer = make('div', '', 'answer')

  const request = () => requestOf(path, method, fields, text)
  const show = () => {
    curl.textContent = curlOf(request(), operation)
  }
  form.append(
    make('h4', 'Try it'),
    ...fields.map(({ row }) => row),
    ...(text === null ? [] : [text.row]),
    send,
    make('h5', 'As curl'),
    curl,
    status,
    answer,
  )
  form.addEventListener('input', show)
  form.addEventListener('submit', event => {
    event.preventDefault()
    show()
    void exchange(request(), send, status, answer)
  })
  show()
  return form
}

const parameterField = (operationId, { name, description, required, schema, example }) => {
  const input = schema.enum === undefined ? make('input') : choices(schema.enum)
  if (schema.enum === undefined) input.placeholder = example === undefined ? '' : `such as ${example}`
  input.required = required
  input.autocomplete = 'off'
  input.spellcheck = false
  return { input, row: fieldOf(`${operationId}-${name}`, required ? `${name} *` : name, input, description ?? '') }
}

const choices = values => {
  const select = make('select')
  select.append(new Option('', ''), ...values.map(value => new Option(value, value)))
  return select
}

const bodyField = (operation, { example }) => {
  const input = make('textarea')
  input.rows = 8
  input.spellcheck = false
  input.value = example === undefined ? '{}' : JSON.stringify(example, null, 2)
  return { input, row: fieldOf(`${operation.operationId}-body`, 'body *', input, operation.requestBody.description ?? '') }
}

function requestOf(path, method, fields, text) {
  const search = new URLSearchParams()
  let filled = path
  for (const { name, in: where, input } of fields) {
    const value = input.value.trim()
    if (where === 'path') filled = filled.replace(`{${name}}`, value === '' ? `{${name}}` : encodeURIComponent(value))
    else if (value !== '') search.set(name, value)
  }
  const query = search.size === 0 ? '' : `?${search}`
  return {
    method: method.toUpperCase(),
    url: `${location.origin}${filled}${query}`,
    body: text === null ? null : text.input.value,
  }
}

/** The key is not shown: what is copied from a screen ends in chats and logs. */
function curlOf({ method, url, body }, { security }) {
  const isOpen = security?.length === 0
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${shellQuoted(url)}`,
    ...(isOpen ? [] : [`-H "Authorization: Bearer $ASSAY_KEY"`]),
    ...(body === null ? [] : [`-H 'Content-Type: application/json'`, `-d ${shellQuoted(body)}`]),
  ].join(' \\\n  ')
}

async function exchange({ method, url, body }, send, status, answer) {
  send.disabled = true
  status.textContent = 'Sent …'
  answer.replaceChildren()
  const startedMs = performance.now()
  try {
    const response = await fetch(url, {
      method,
      // With a key the session of the console stays out of it.
      credentials: key === null ? 'same-origin' : 'omit',
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === null ? {} : { body }),
    })
    const text = await response.text()
    const tookMs = Math.round(performance.now() - startedMs)
    status.textContent = `${response.status} ${response.statusText}, ${tookMs} ms${hint(response.status)}`
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    answer.append(make('h5', 'Headers'), scrolling(headers), make('h5', 'Body'), scrolling(pretty(text)))
  } catch (failure) {
    status.textContent = `There was no answer: ${failure.message}`
  } finally {
    send.disabled = false
  }
}

const hint = status =>
  status === 401 && key === null ? ': paste a key above, or log in to the console first' : ''

const scrolling = text => {
  const element = make('pre', text)
  element.tabIndex = 0
  return element
}

function pretty(text) {
  if (text === '') return '(empty)'
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // Not JSON: as it came.
  }
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}\n… ${shown.length} characters in all` : shown
}
