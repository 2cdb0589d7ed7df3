import { mediaParameters } from '@gateway/api/console/fields'
import type { ProductRecord } from '@gateway/api/console/products'
import type { CanvasNode } from '../core/canvas-model.ts'
import { Field } from '../../components/field.tsx'
import { useParams } from './use-params.ts'

/** Parameters of an image or audio product, with their allowed values. */
export function MediaParams({
  drawn,
  product,
  calls,
}: {
  drawn: CanvasNode
  product: ProductRecord | undefined
  calls: keyof typeof mediaParameters
}) {
  const [params, set] = useParams(drawn)
  const listed: Readonly<Record<string, readonly string[] | undefined>> = product?.parameterValues ?? {}
  return (
    <div className="pair">
      {mediaParameters[calls]
        .filter((name) => listed[name] !== undefined || params[name] !== undefined)
        .map((name) => {
          const value = typeof params[name] === 'string' ? params[name] : ''
          const values = new Set([...(listed[name] ?? []), ...(value === '' ? [] : [value])])
          return (
            <Field key={name} label={`${name[0]!.toUpperCase()}${name.slice(1)}`}>
              {(ids) => (
                <select {...ids} value={value} onChange={({ target }) => set(name, target.value || undefined)}>
                  <option value="">Product default</option>
                  {[...values].map((value) => (
                    <option key={value}>{value}</option>
                  ))}
                </select>
              )}
            </Field>
          )
        })}
    </div>
  )
}
