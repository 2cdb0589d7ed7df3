import { useEffect, useState } from 'react'
import { Field } from '../../components/fields.tsx'
import { setField } from '../core/node-commands.ts'
import { count } from '../../components/usd.ts'
import { useSession } from '../state/open-editor.ts'

/** Range of a number, for its hint and its check. */
export interface NumberRange {
  least?: number
  most?: number
  isWhole?: boolean
}

/** Number, omitted if empty. Text that is not a number stays in the field with its error. */
export function NumberField({
  label,
  hint,
  range = {},
  fault = null,
  held,
  value,
  onChange,
}: {
  label: string
  hint?: string
  range?: NumberRange
  /** Problem of the value that the field has. */
  fault?: string | null
  held?: HeldText
  value: unknown
  onChange: (value: number | undefined) => void
}) {
  const [typed, setTyped] = useState(() => held?.get() ?? shown(value))
  const read = numberOf(typed)
  const text = read !== null && read !== value ? shown(value) : typed
  const said = hint ?? rangeText(range)
  return (
    <Field
      label={label}
      {...(said !== '' && { hint: said })}
      fault={read === null ? 'Enter a number.' : (outOf(read, range) ?? fault)}
    >
      {(ids) => (
        <input
          {...ids}
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={({ target }) => {
            setTyped(target.value)
            const now = numberOf(target.value)
            held?.set(now === null ? target.value : null)
            if (now !== null) onChange(now)
          }}
        />
      )}
    </Field>
  )
}

const shown = (value: unknown) => (value === undefined ? '' : JSON.stringify(value))

/** The range in words: "1 to 4,096", "0 or more", "Whole number". */
export function rangeText({ least, most, isWhole = false }: NumberRange): string {
  if (least !== undefined && most !== undefined) return `${count(least)} to ${count(most)}`
  if (most !== undefined) return `Up to ${count(most)}`
  if (least !== undefined) return `${count(least)} or more`
  return isWhole ? 'Whole number' : ''
}

/** Why a number is outside of a range, or null. */
export function outOf(number: number | undefined, range: NumberRange): string | null {
  if (number === undefined) return null
  const { least = -Infinity, most = Infinity, isWhole = false } = range
  if (isWhole && !Number.isInteger(number)) return 'Enter a whole number.'
  if (number >= least && number <= most) return null
  return `Enter ${least > -Infinity && most < Infinity ? 'a number from ' : ''}${rangeText(range).replace(/^Up/, 'up')}.`
}

/** Parses a number; undefined if empty, null if invalid. */
function numberOf(text: string): number | undefined | null {
  if (text.trim() === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : null
}

/** Text of a field that could not be applied to the graph: kept while another node is selected. */
export interface HeldText {
  get(): string | undefined
  /** @param text null once the field can be applied */
  set(text: string | null): void
}

/**
 * Returns what the fields of a node hold, by name, until the editor closes. Call the function for each field that is
 * rendered: the texts of all others are dropped, because no one could see or correct them.
 */
export function useHeldTexts(key: string): (field: string) => HeldText {
  const { heldTexts } = useSession().editor
  const rendered = new Set<string>()
  useEffect(() => {
    const texts = Object.entries(heldTexts.getState()[key] ?? {})
    const left = texts.filter(([field]) => rendered.has(field))
    if (left.length < texts.length) heldTexts.setState({ [key]: Object.fromEntries(left) })
  })
  return (field) => {
    rendered.add(field)
    return {
      get: () => heldTexts.getState()[key]?.[field],
      set: (text) =>
        heldTexts.setState((before) => {
          const { [field]: _, ...others } = before[key] ?? {}
          return { [key]: text === null ? others : { ...others, [field]: text } }
        }),
    }
  }
}

/**
 * Name that other parts of the graph refer to. Applied on Enter, blur or Ctrl+S, not on every keystroke. A name with a
 * fault stays in the field and is not applied.
 */
export function NameField({
  label,
  name,
  faultOf,
  onDone,
}: {
  label: string
  name: string
  faultOf: (typed: string) => string | null
  onDone: (name: string) => void
}) {
  const [typed, setTyped] = useState(name)
  const [before, setBefore] = useState(name)
  if (before !== name) {
    setBefore(name)
    setTyped(name)
  }
  const fault = faultOf(typed)
  const apply = () => fault === null && typed !== name && onDone(typed)
  return (
    <Field label={label} fault={fault}>
      {(ids) => (
        <input
          {...ids}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={apply}
          onKeyDown={({ key, ctrlKey, metaKey }) =>
            (key === 'Enter' || ((ctrlKey || metaKey) && key.toLowerCase() === 's')) && apply()
          }
        />
      )}
    </Field>
  )
}

/** Returns a setter for a field of a node. Typing without a pause is one history step. */
export function useField(key: string, field: string): (value: unknown) => void {
  const { editor } = useSession()
  return (value) => editor.change((graph) => setField(graph, key, field, value), `${key} ${field}`)
}
