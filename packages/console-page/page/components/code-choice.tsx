import { useState } from 'react'
import { Copyable } from './copyable.tsx'

/** Equivalent code samples, one shown at a time. */
export function CodeChoice<Name extends string>({
  title,
  label,
  copy,
  of,
}: {
  title: string
  /** Accessible name of the choice. */
  label: string
  copy: string
  of: Record<Name, string>
}) {
  const names = Object.keys(of) as Name[]
  const [chosen, setChosen] = useState(names[0]!)
  return (
    <>
      <div className="head">
        <h3>{title}</h3>
        <div className="buttons" role="group" aria-label={label}>
          {names.map((name) => (
            <button
              key={name}
              type="button"
              className="button small"
              aria-pressed={name === chosen}
              onClick={() => setChosen(name)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <Copyable text={of[chosen]} label={copy} />
    </>
  )
}
