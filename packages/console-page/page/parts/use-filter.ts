import { useNavigate } from '@tanstack/react-router'

/** Puts a filter of a screen into its address, or takes it away from there; the others stay. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- so a name that is none does not compile
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
        replace: isTyped, // a letter is no step to go back to
        resetScroll: false,
      })
}
