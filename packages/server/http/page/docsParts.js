/** The elements the page of the API is made of. Text from the document is only ever set as text. */

export const make = (tag, text = '', className = '') => {
  const element = document.createElement(tag)
  element.textContent = text
  if (className !== '') element.className = className
  return element
}

export const table = (heads, rows) => {
  const element = make('table')
  element.append(rowOf('th', heads), ...rows.map(cells => rowOf('td', cells)))
  return element
}
const rowOf = (tag, cells) => {
  const row = make('tr')
  row.append(...cells.map(cell => make(tag, cell)))
  return row
}

export const code = value => {
  const element = make('pre', JSON.stringify(value, null, 1))
  element.tabIndex = 0
  return element
}

/** A labelled input, with what it is below it. */
export const fieldOf = (id, name, input, about) => {
  const row = make('div', '', 'field')
  const label = make('label', name)
  label.htmlFor = id
  const words = make('small', about)
  words.id = `${id}-about`
  input.id = id
  input.setAttribute('aria-describedby', words.id)
  row.append(label, input, words)
  return row
}
