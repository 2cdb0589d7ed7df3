import type { ProductRecord } from '@gateway/api/console/products'
import type { CanvasNode } from '../core/canvas-model.ts'
import { Field } from '../../components/field.tsx'
import { JsonField } from './json-field.tsx'
import { NumberField } from './number-field.tsx'
import { useParams } from './use-params.ts'

const numbers = { max_tokens: 'Max output tokens', temperature: 'Temperature', top_p: 'Top p', seed: 'Seed' } as const
const others = ['stop', 'tools', 'tool_choice'] as const

/** Parameters of a chat product: those it supports, and those already set. */
export function ChatParams({ drawn, product }: { drawn: CanvasNode; product: ProductRecord | undefined }) {
  const [params, set] = useParams(drawn)
  const isOffered = (name: string) =>
    name === 'max_tokens' || params[name] !== undefined || (product?.supportedParameters.includes(name) ?? false)
  const advanced = others.filter(isOffered)
  const format = (params['response_format'] as { type?: unknown } | undefined)?.type
  return (
    <>
      <div className="pair">
        {Object.entries(numbers)
          .filter(([name]) => isOffered(name))
          .map(([name, label]) => (
            <NumberField
              key={name}
              label={label}
              value={params[name]}
              onChange={(number) => set(name, number)}
              {...(name === 'max_tokens' && product && { hint: `Up to ${product.maxOutputTokens}` })}
            />
          ))}
      </div>
      {isOffered('response_format') && (
        <Field label="Response format">
          {(ids) => (
            <select
              {...ids}
              value={format === 'json_object' || format === 'json_schema' ? format : 'text'}
              onChange={({ target }) =>
                set('response_format', target.value === 'text' ? undefined : { type: target.value })
              }
            >
              <option value="text">Text</option>
              <option value="json_object">JSON object</option>
              <option value="json_schema">JSON schema</option>
            </select>
          )}
        </Field>
      )}
      {format === 'json_schema' && (
        <JsonField
          label="Schema"
          value={params['response_format']}
          onChange={(value) => set('response_format', value)}
        />
      )}
      {advanced.length > 0 && (
        <details open={advanced.some((name) => params[name] !== undefined)}>
          <summary className="soft">Stop sequences and tools</summary>
          <div className="stack">
            {advanced.map((name) => (
              <JsonField
                key={name}
                label={`${name}, as JSON`}
                rows={3}
                value={params[name]}
                onChange={(value) => set(name, value)}
              />
            ))}
          </div>
        </details>
      )}
    </>
  )
}
