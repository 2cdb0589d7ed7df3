import { useProducts } from '../api/use-project.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { several } from '../pure/usd.ts'

/** Products a key can call: all products of the project, or selected ones. */
export function ResourceFields({
  chosen,
  fault,
  onChange,
}: {
  chosen: string[] | null
  fault: string | undefined
  onChange: (chosen: string[] | null) => void
}) {
  const { products, isPending, error } = useProducts()
  const toggle = (id: string, isChosen: boolean) =>
    onChange(isChosen ? [...(chosen ?? []), id] : (chosen ?? []).filter((each) => each !== id))
  return (
    <fieldset className="stack">
      <legend>Access</legend>
      <label className="choice">
        <input type="radio" name="policy" checked={chosen === null} onChange={() => onChange(null)} />
        <span>
          All products, including those assigned later
          <span className="soft">
            {isPending
              ? ''
              : ` (currently ${several(products.length, 'product')}${listOf(products.map(({ name }) => name))})`}
          </span>
        </span>
      </label>
      <label className="choice">
        <input type="radio" name="policy" checked={chosen !== null} onChange={() => onChange([])} />
        Selected products
      </label>
      {chosen !== null && (
        <div className="choices">
          <RefusalBox error={error} />
          {isPending && <Waiting what="products" />}
          {!isPending && products.length === 0 && (
            <p className="soft">No products assigned yet. Ask an Admin of the organization to assign one.</p>
          )}
          {products.map(({ id, name }) => (
            <label key={id} className="choice">
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={({ target }) => toggle(id, target.checked)}
              />
              <span>
                {name} <code className="soft">{id}</code>
              </span>
            </label>
          ))}
        </div>
      )}
      {fault !== undefined && (
        <p className="field" role="alert">
          <span className="fault">{fault}</span>
        </p>
      )}
    </fieldset>
  )
}

const SHOWN = 3
function listOf(names: string[]): string {
  if (names.length === 0) return ''
  return `: ${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ', …' : ''}`
}
