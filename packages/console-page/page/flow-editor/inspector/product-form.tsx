import { useState } from 'react'
import type { ProductKind, ProductRecord } from '@gateway/api/console/products'
import type { CanvasNode } from '../core/canvas-model.ts'
import { priceLabels } from '../../catalogue/product-labels.tsx'
import { SelectField } from '../../components/select.tsx'
import { useSession } from '../state/open-editor.ts'
import { useField, NumberField, useHeldTexts } from './fields.tsx'
import { faultOfField } from './field-problems.ts'
import { chatLimits } from '@gateway/api/limits'
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
  return (
    <>
      <SelectField
        label="Product"
        {...(product && { hint: priceLabels(product.pricing) })}
        fault={faultOfField(drawn.problems, drawn.node.kind, 'product')}
        placeholder="Select a product"
        value={chosen === '' ? null : chosen}
        options={[
          ...(product || chosen === '' ? [] : [[chosen, `${chosen} (not callable)`] as const]),
          ...offered.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const),
        ]}
        onChange={set}
      />
      {calls === 'chat' ? (
        <ChatParams drawn={drawn} product={product} />
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
            <SelectField
              key={name}
              label={`${name[0]!.toUpperCase()}${name.slice(1)}`}
              value={value}
              options={[['', 'Product default'], ...[...values].map((each) => [each, each] as const)]}
              onChange={(chosen) => set(name, chosen || undefined)}
            />
          )
        })}
    </div>
  )
}

const { maxTokens, temperature, topP } = chatLimits
const numbers = [
  {
    name: 'max_tokens',
    label: 'Max output tokens',
    range: { least: maxTokens.min, most: maxTokens.max, isWhole: true },
  },
  { name: 'temperature', label: 'Temperature', range: { least: temperature.min, most: temperature.max } },
  { name: 'top_p', label: 'Top P', range: { least: topP.above, most: topP.max } },
  { name: 'seed', label: 'Seed', range: { isWhole: true } },
] as const
const others = [
  { name: 'stop', label: 'Stop sequences (JSON)', hint: 'A text, or a list of up to 4: ["END", "\\n\\n"]' },
  { name: 'tools', label: 'Tools (JSON)', hint: 'A list of functions that the model may ask to call.' },
  { name: 'tool_choice', label: 'Tool choice (JSON)', hint: '"auto", "none", "required", or one function.' },
] as const

const formats = [
  ['text', 'Text'],
  ['json_object', 'JSON object'],
  ['json_schema', 'JSON schema'],
] as const

/** Parameters of a chat product: those it supports, and those already set. */
function ChatParams({ drawn, product }: { drawn: CanvasNode; product: ProductRecord | undefined }) {
  const [params, set] = useParams(drawn)
  const isOffered = (name: string) =>
    name === 'max_tokens' || params[name] !== undefined || (product?.supportedParameters.includes(name) ?? false)
  const advanced = others.filter(({ name }) => isOffered(name))
  const held = useHeldTexts(drawn.key)
  const [startsOpen] = useState(() =>
    advanced.some(({ name }) => params[name] !== undefined || held(name).get() !== undefined),
  )
  const faultOf = (name: string) => faultOfField(drawn.problems, drawn.node.kind, name)
  const format = (params['response_format'] as { type?: unknown } | undefined)?.type
  return (
    <>
      <div className="pair">
        {numbers
          .filter(({ name }) => isOffered(name))
          .map(({ name, label, range }) => (
            <NumberField
              key={name}
              label={label}
              range={name === 'max_tokens' && product ? { ...range, most: product.maxOutputTokens } : range}
              held={held(name)}
              fault={faultOf(name)}
              value={params[name]}
              onChange={(number) => set(name, number)}
            />
          ))}
      </div>
      {isOffered('response_format') && (
        <SelectField
          label="Response format"
          value={format === 'json_object' || format === 'json_schema' ? format : 'text'}
          options={formats}
          onChange={(type) => set('response_format', type === 'text' ? undefined : { type })}
        />
      )}
      {format === 'json_schema' && (
        <JsonField
          label="JSON schema"
          hint="What the answer must look like, as response_format has it."
          fault={faultOf('response_format')}
          held={held('response_format')}
          value={params['response_format']}
          onChange={(value) => set('response_format', value)}
        />
      )}
      {advanced.length > 0 && (
        <details open={startsOpen}>
          <summary className="soft">Stop sequences and tools</summary>
          <div className="stack">
            {advanced.map(({ name, label, hint }) => (
              <JsonField
                key={name}
                label={label}
                hint={hint}
                fault={faultOf(name)}
                held={held(name)}
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
