import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { ProductRecord } from '@gateway/api/console/products'
import { fillTemplate, flowTemplates, type FlowTemplate, type TemplateSlot } from '@gateway/flow/flow-templates'
import { useChange, useOnce } from '../api/queries.ts'
import { useProducts, useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { TextField } from '../components/fields.tsx'
import { SelectField } from '../components/select.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { several } from '../components/usd.ts'
import { createFlow, FLOWS } from './create-flow.ts'
import './style/gallery.css'

/** Creates a flow, empty or from a template with a product for each of its slots, and opens its editor. */
export function CreateFlowDialog({ onClose }: { onClose: () => void }) {
  const scope = useScope()
  const navigate = useNavigate()
  const { products, isPending, error } = useProducts()
  const [typed, setTyped] = useState<string | null>(null)
  const [template, setTemplate] = useState<FlowTemplate | null>(null)
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({})
  const name = typed ?? template?.title ?? ''
  const slots = Object.entries(template?.slots ?? {}).map(([slot, needed]) => {
    const offered = products.filter((product) => fits(product, needed))
    const product = offered.find(({ id }) => id === chosen[slot]) ?? offered[0]
    return { slot, needed, offered, product }
  })
  const missing = slots.filter(({ product }) => product === undefined).map(({ needed }) => needed)
  const once = useOnce()
  const create = () => {
    const filled = Object.fromEntries(slots.map(({ slot, product }) => [slot, product!.id]))
    const graph = template && fillTemplate(template, filled)
    const body = { name, ...(template && { description: template.summary }) }
    return createFlow(scope, body, graph, once({ body, graph }))
  }
  return (
    <FormDialog
      title="Create flow"
      submit="Create flow"
      isReady={missing.length === 0}
      change={useChange(create, `Flow ${name} created.`, [FLOWS])}
      onDone={({ id }) => {
        onClose()
        void navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...scope, sandbox: id } })
      }}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={100} value={name} onChange={setTyped} />
      <fieldset className="stack tight">
        <legend>Start from</legend>
        <div className="gallery">
          <Card title="Blank flow" isChosen={template === null} onChoose={() => setTemplate(null)}>
            Draw every step yourself.
          </Card>
          {flowTemplates.map((each) => (
            <Card
              key={each.id}
              title={each.title}
              needs={needsLabel(each)}
              isChosen={each === template}
              onChoose={() => setTemplate(each)}
            >
              {each.summary}
            </Card>
          ))}
        </div>
      </fieldset>
      <RefusalBox error={error} />
      {!isPending && missing.length > 0 && <MissingModel of={missing[0]!} />}
      {slots.some(({ product }) => product) && (
        <div className="pair">
          {slots.map(({ slot, needed, offered, product }) => (
            <SelectField
              key={slot}
              label={needed.title}
              placeholder={`No ${modelLabel(needed)}`}
              disabled={product === undefined}
              value={product?.id ?? null}
              options={offered.map(({ id, name: each }) => [id, each === id ? id : `${each} (${id})`] as const)}
              onChange={(id) => setChosen({ ...chosen, [slot]: id })}
            />
          ))}
        </div>
      )}
    </FormDialog>
  )
}

function Card({
  title,
  needs,
  isChosen,
  onChoose,
  children,
}: {
  title: string
  /** Kinds of models that it calls. */
  needs?: string
  isChosen: boolean
  onChoose: () => void
  children: string
}) {
  const id = useId()
  return (
    <label className="choice">
      <input
        type="radio"
        name="template"
        aria-labelledby={id}
        aria-describedby={`${id}-summary`}
        checked={isChosen}
        onChange={onChoose}
      />
      <span id={`${id}-summary`}>
        <strong id={id}>{title}</strong>
        <span>{children}</span>
        {needs && <span className="soft small">{needs}</span>}
      </span>
    </label>
  )
}

function MissingModel({ of }: { of: TemplateSlot }) {
  return (
    <p className="notice" role="status">
      This project has no {modelLabel(of)}. Ask an Admin of the organization to assign one.
    </p>
  )
}

function fits({ kind, supportedParameters, modalities }: ProductRecord, needed: TemplateSlot): boolean {
  if (kind !== needed.kind) return false
  if (needed.needs === 'json') return supportedParameters.includes('response_format')
  return needed.needs !== 'images' || modalities.input.includes('image')
}

const kindLabels = { chat: 'chat model', image: 'image model', audio: 'audio model' } as const
const abilityLabels = { json: 'that returns JSON', images: 'that reads images' } as const

function modelLabel({ kind, needs }: TemplateSlot): string {
  return needs ? `${kindLabels[kind]} ${abilityLabels[needs]}` : kindLabels[kind]
}

/** Kinds of models that a template calls, such as `2 chat models, 1 image model`. */
function needsLabel({ slots }: FlowTemplate): string {
  const kinds = Object.values(slots).map(({ kind }) => kind)
  return [...new Set(kinds)]
    .map((kind) => several(kinds.filter((each) => each === kind).length, kindLabels[kind]))
    .join(', ')
}
