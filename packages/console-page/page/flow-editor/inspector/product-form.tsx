import type { ProductKind, ProductRecord } from '@gateway/api/console/products'
import type { CanvasNode } from '../core/canvas-model.ts'
import { priceLabels } from '../../catalogue/product-labels.tsx'
import { Field } from '../../components/fields.tsx'
import { useSession } from '../state/open-editor.ts'
import { useField, NumberField } from './fields.tsx'
import { mediaParameters } from '@gateway/api/console/fields'
import { JsonField } from './json-field.tsx'
import { setField, nodeOf } from '../core/node-commands.ts'

/** Product that a node calls, with its price and parameters. */
export function ProductForm({ drawn, calls }: { drawn: CanvasNode; calls: Exclude<ProductKind, 'embedding'> }) {
  const { catalogue } = useSession()
  const set = useField(drawn.key, 'product')
  const offered = catalogue.filter(({ kind }) => kind === calls)
  const chosen = typeof drawn.node['product'] === 'string' ? drawn.node['product'] : ''
  const product = offered.find(({ id }) => id === chosen)
  const fault = drawn.problems.find(({ code }) => code.startsWith('product_') || code === 'field_invalid')
  return (
    <>
      <Field
        label="Product"
        {...(product && { hint: priceLabels(product.pricing) })}
        fault={fault ? `${fault.message} ${fault.resolution}` : null}
      >
        {(ids) => (
          <select {...ids} value={chosen} onChange={({ target }) => set(target.value || undefined)}>
            {!product && (
              <option value={chosen}>{chosen === '' ? 'Select a product' : `${chosen} (not callable)`}</option>
            )}
            {offered.map(({ id, name }) => (
              <option key={id} value={id}>
                {name === id ? id : `${name} (${id})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      {calls === 'chat' ? (
        <ChatParams key={drawn.key} drawn={drawn} product={product} />
      ) : (
        <MediaParams drawn={drawn} product={product} calls={calls} />
      )}
    </>
  )
}

/** Parameters of an image or audio product, with their allowed values. */
function MediaParams({
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

const numbers = { max_tokens: 'Max output tokens', temperature: 'Temperature', top_p: 'Top p', seed: 'Seed' } as const
const others = ['stop', 'tools', 'tool_choice'] as const

/** Parameters of a chat product: those it supports, and those already set. */
function ChatParams({ drawn, product }: { drawn: CanvasNode; product: ProductRecord | undefined }) {
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

type Params = Readonly<Record<string, unknown>>

/** Parameters of a node and a setter. undefined removes a parameter; removing the last one removes `params`. */
function useParams({ key, node }: CanvasNode): [Params, (name: string, value: unknown) => void] {
  const { editor } = useSession()
  const set = (name: string, value: unknown) =>
    editor.change((graph) => {
      const { [name]: _, ...others } = paramsOf(nodeOf(graph, key)?.['params'])
      const params = value === undefined ? others : { ...paramsOf(nodeOf(graph, key)?.['params']), [name]: value }
      return setField(graph, key, 'params', Object.keys(params).length === 0 ? undefined : params)
    }, `${key} params ${name}`)
  return [paramsOf(node['params']), set]
}

function paramsOf(params: unknown): Params {
  return typeof params === 'object' && params !== null && !Array.isArray(params) ? (params as Params) : {}
}
