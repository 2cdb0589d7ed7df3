import { useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'
import { useNavigate } from '@tanstack/react-router'
import { Select } from './select.tsx'

/** Filter: a select while it is not set, a chip that clears it once it is. */
export function FilterChip({
  name,
  value,
  choices,
  onOpen,
  onChange,
}: {
  name: string
  value: string | undefined
  choices: (readonly [value: string, text: string])[]
  onOpen?: () => void
  onChange: (value: string | undefined) => void
}) {
  const { control, beforeChange } = useKeptFocus(value !== undefined)
  const change = (next: string | undefined) => {
    beforeChange()
    onChange(next)
  }
  if (value === undefined)
    return (
      <Select
        ref={control}
        aria-label={name}
        value={null}
        placeholder={name}
        options={choices}
        onChange={change}
        {...(onOpen && { onOpen })}
      />
    )
  const text = choices.find(([each]) => each === value)?.[1] ?? value
  return (
    <span className="chip">
      {name}: {text}
      <button ref={control} type="button" onClick={() => change(undefined)}>
        <Icon name="close" />
        <span className="visually-hidden">
          Remove filter {name.toLowerCase()}: {text}
        </span>
      </button>
    </span>
  )
}

/** A changed filter has another control, which takes the focus, or none: then the first control next to it does. */
function useKeptFocus(isSet: boolean) {
  const control = useRef<HTMLButtonElement>(null)
  const group = useRef<Element | null>(null)
  useEffect(() => {
    if (group.current) control.current?.focus()
    group.current = null
  }, [isSet])
  useEffect(() => () => group.current?.querySelector<HTMLElement>('button, input')?.focus(), [])
  const beforeChange = () => {
    group.current = control.current?.closest('.chip, .select')?.parentElement ?? null
  }
  return { control, beforeChange }
}

/** Sets or clears one filter in the URL; the others stay. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- rejects unknown filter names at compile time
export function useFilter<Filters extends object>() {
  const navigate = useNavigate()
  return (name: keyof Filters & string, { isTyped = false } = {}) =>
    (value: string | number | undefined) =>
      void navigate({
        to: '.',
        search: ({ [name]: _, ...others }: Readonly<Record<string, unknown>>) => ({
          ...others,
          ...(value && { [name]: value }),
        }),
        replace: isTyped, // keystrokes don't add history entries
        resetScroll: false,
      })
}
