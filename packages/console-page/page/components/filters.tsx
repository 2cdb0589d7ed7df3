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
  if (value === undefined)
    return (
      <Select
        aria-label={name}
        value={null}
        placeholder={name}
        options={choices}
        onChange={onChange}
        {...(onOpen && { onOpen })}
      />
    )
  const text = choices.find(([each]) => each === value)?.[1] ?? value
  return (
    <span className="chip">
      {name}: {text}
      <button type="button" onClick={() => onChange(undefined)}>
        <Icon name="close" />
        <span className="visually-hidden">
          Remove filter {name.toLowerCase()}: {text}
        </span>
      </button>
    </span>
  )
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
