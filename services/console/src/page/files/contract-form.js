import { el, field } from './dom.js'

/**
 * A form for one side of a contract: a control for each field, and `read`, which answers the object that they hold. What was
 * left empty is left out.
 */
export function contractForm({ properties, required = [] }) {
  const fields = Object.entries(properties).map(([name, shape]) => {
    const needed = required.includes(name)
    return { name, shape, control: controlFor(shape, needed), needed }
  })
  return {
    element: el('div', { class: 'fields' }, ...fields.map(labelled)),
    read: () => inputOf(fields.map(({ name, shape, control }) => ({ name, shape, text: control.value }))),
  }
}

function labelled({ name, shape, control, needed }) {
  const hint = [shape.description, jsonHint(shape), !needed && 'May be left empty.'].filter(Boolean).join(' ')
  return field(shape.title ?? name, control, hint || null)
}

function jsonHint({ type, format }) {
  if (type !== 'object') return null
  return format === 'image' || format === 'audio'
    ? 'A file of the project, as POST /v1/assets answered it: {"asset": "ast_…", "mimeType": "…", "bytes": …}.'
    : 'A JSON object.'
}

function controlFor({ type, enum: options }, required) {
  if (options || type === 'boolean') {
    const names = options ?? ['true', 'false']
    return el('select', { required }, ...['', ...names].map((value) => el('option', { value }, value)))
  }
  if (type === 'number') return el('input', { type: 'number', step: 'any', required })
  return el('textarea', { rows: 3, required, class: type === 'object' && 'code' })
}

/** What was typed, as values of the contract's types. @throws what the page can show, for an object that is not JSON */
export function inputOf(typed) {
  const given = typed.filter(({ text }) => text !== '')
  return Object.fromEntries(given.map(({ name, shape, text }) => [name, valueOf(name, shape, text)]))
}

/** An input that fits a contract, to begin with. */
export function exampleOf({ properties, required = [] }) {
  const examples = { string: 'Hello', number: 1, boolean: true, object: {} }
  return Object.fromEntries(
    required.map((name) => [name, properties[name].enum?.[0] ?? examples[properties[name].type]]),
  )
}

function valueOf(name, { type }, text) {
  if (type === 'number') return Number(text)
  if (type === 'boolean') return text === 'true'
  if (type !== 'object') return text
  try {
    return JSON.parse(text)
  } catch {
    throw Object.assign(new Error(`${name} is not JSON.`), {
      code: 'invalid_json',
      resolution: `Write ${name} as a JSON object.`,
    })
  }
}
