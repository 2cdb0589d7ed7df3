import type { ReactNode } from 'react'

/** Names and values. A null value is omitted. */
export function Facts({ of, className = 'facts' }: { of: [name: string, value: ReactNode][]; className?: string }) {
  return (
    <dl className={className}>
      {of
        .filter(([, value]) => value !== null)
        .map(([name, value], n) => (
          <div key={name} className={n === 0 ? 'first' : ''}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
