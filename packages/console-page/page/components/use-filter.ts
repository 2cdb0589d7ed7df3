import { useNavigate } from '@tanstack/react-router'

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
