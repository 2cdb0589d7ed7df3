import { Field } from '../../components/field.tsx'
import type { Parameter } from '../core/parameters.ts'

/** System message and parameters that apply to every request. */
export function SettingsPanel({
  system,
  typed,
  shown,
  faults,
  onSystem,
  onTyped,
}: {
  system: string
  typed: Readonly<Record<string, string>>
  shown: Parameter[]
  faults: Readonly<Record<string, string>>
  onSystem: (system: string) => void
  onTyped: (typed: Record<string, string>) => void
}) {
  return (
    <section className="card stack" aria-label="Settings">
      <Field label="System message" hint="Instructions for the model.">
        {(ids) => <textarea {...ids} rows={3} value={system} onChange={({ target }) => onSystem(target.value)} />}
      </Field>
      <details open={Object.keys(faults).length > 0 || undefined}>
        <summary>Parameters</summary>
        <div className="stack playground-parameters">
          <p className="soft small">Leave a parameter empty for the model's default.</p>
          {shown.map(({ name, label, hint, kind }) => (
            <Field key={name} label={label} hint={hint} fault={faults[name] ?? null}>
              {(ids) => {
                const value = typed[name] ?? ''
                const onChange = ({ target }: { target: { value: string } }) =>
                  onTyped({ ...typed, [name]: target.value })
                return kind === 'line' ? (
                  <input {...ids} autoComplete="off" value={value} onChange={onChange} />
                ) : (
                  <textarea {...ids} className="code" rows={3} spellCheck={false} value={value} onChange={onChange} />
                )
              }}
            </Field>
          ))}
        </div>
      </details>
    </section>
  )
}
