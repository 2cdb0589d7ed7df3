import { useNavigate, useSearch } from '@tanstack/react-router'
import { newIdempotencyKey as newId } from '../../api/queries.ts'
import {
  chatBody,
  type Conversation,
  type Entry,
  type TypedMessage,
  type ChatBody,
  spent,
} from '../core/conversation.ts'
import { readParameters, shownParameters, type Parameter, type Slider } from '../core/parameters.ts'
import type { UsedConversation } from '../data/use-conversation.ts'
import { ChatEntries } from './chat-entries.tsx'
import { Composer } from './composer.tsx'
import { ModelChoice } from './model-choice.tsx'
import { useQuery } from '@tanstack/react-query'
import { askingWith } from '../data/use-playground-key.ts'
import { useState } from 'react'
import { useBaseUrl, type useProducts } from '../../api/session.ts'
import { chatCode } from '../code/chat-code.ts'
import { CodePanel } from './code-panel.tsx'
import { Money } from '../../components/values.tsx'
import { several } from '../../components/usd.ts'
import { Field, type FieldIds } from '../../components/fields.tsx'
import { useFollowEnd } from './use-follow-end.ts'

/** Chat with one model, or with two side by side. */
export function ChatPart({
  used,
  models,
  secret,
  onOtherKey,
}: {
  used: UsedConversation
  models: ReturnType<typeof useProducts>['products']
  secret: string | null
  onOtherKey: () => void
}) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/playground' })
  const search = useSearch({ from: '/projects/$tenant/$project/playground' })
  const { conversation, isStreaming, change } = used
  const known = (id: string) => models.find((each) => each.id === id)
  const [first] = useState(models[0]!.id)
  const { model = first, compareWith } = search
  const named = compareWith === undefined ? [model] : [model, compareWith]
  const asked = named.map(known).filter((each) => each !== undefined)
  const isCallable = asked.length === named.length
  const shown = shownParameters(asked.flatMap(({ supportedParameters }) => supportedParameters))
  const { values, faults } = readParameters(conversation.parameters, shown)
  const choose = (name: 'model' | 'compareWith') => (id: string | undefined) =>
    void navigate({
      search: ({ [name]: _, ...others }) => ({ ...others, ...(id !== undefined && { [name]: id }) }),
    })

  const imageModels = useImageModels(secret)
  const { entries, draft } = conversation
  const isEmpty = draft.text === '' && draft.images.length === 0
  const cannot =
    secret === null
      ? 'Create a key or use an existing one to send messages.'
      : !isCallable
        ? 'Choose another model first.'
        : Object.keys(faults).length > 0
          ? 'Fix the parameters first.'
          : isEmpty && (entries.length === 0 || !waitsForTools(entries.at(-1)))
            ? 'Write a message first.'
            : null
  const canSend = secret !== null && isCallable && Object.keys(faults).length === 0 && !isStreaming
  const written = (): TypedMessage[] => (isEmpty ? [] : [{ kind: 'message', id: newId(), ...draft }])
  const askFor = (next: Entry[], rest: Partial<Conversation> = {}) => {
    if (secret === null) return
    const sent = rest.parameters ? readParameters(rest.parameters, shown).values : values
    void used.askFor(next, { models: named, values: sent, secret }, rest)
  }
  const { isAtEnd, toEnd } = useFollowEnd(entries)
  const emptied = { draft: { role: 'user' as const, text: '', images: [] } }
  return (
    <div className="playground-sides">
      <section className="card stack" aria-label="Models">
        <ModelChoice label="Model" models={models} chosen={model} onChange={choose('model')} />
        <ModelChoice
          label="Compare with"
          none="None"
          models={models}
          chosen={compareWith}
          onChange={choose('compareWith')}
        />
      </section>
      <div className="stack playground-main">
        <ChatEntries
          used={used}
          models={models}
          canSend={canSend}
          askFor={(next, other) => askFor(next, other && { parameters: { ...conversation.parameters, ...other } })}
          onOtherKey={onOtherKey}
        />
        <div className="playground-end">
          {!isAtEnd && entries.length > 0 && (
            <button type="button" className="button small playground-latest" onClick={toEnd}>
              Jump to latest
            </button>
          )}
          {used.restore && (
            <p className="notice">
              Messages were removed.{' '}
              <button type="button" className="button small" disabled={isStreaming} onClick={used.restore}>
                Restore messages
              </button>
            </p>
          )}
          <Composer
            draft={draft}
            takesImages={named.every((id) => imageModels.has(id))}
            isStreaming={isStreaming}
            cannot={cannot}
            onChange={(next) => change({ draft: next })}
            onSend={() => {
              askFor([...entries, ...written()], emptied)
              toEnd()
            }}
            onAdd={() => change({ entries: [...entries, ...written()], ...emptied })}
            onStop={used.stop}
          >
            <SpentLine of={conversation} />
          </Composer>
          {used.lost !== null && (
            <p className="notice">
              The {used.lost === 'images' ? 'images are' : 'conversation is'} too large to be kept across a reload.
            </p>
          )}
        </div>
      </div>
      <div className="stack">
        <SettingsPanel
          system={conversation.system}
          typed={conversation.parameters}
          shown={shown}
          faults={faults}
          onSystem={(system) => change({ system })}
          onTyped={(parameters) => change({ parameters })}
        />
        <ChatCodePart
          bodyOf={() =>
            chatBody({ ...conversation, entries: nextEntries(entries, written()) }, { model, column: 0, values })
          }
        />
      </div>
    </div>
  )
}

/** Models with image input among those the key can call. */
function useImageModels(secret: string | null): ReadonlySet<string> {
  const { data } = useQuery({
    queryKey: ['/v1/models', secret],
    queryFn: () => askingWith(secret!).ask('GET', '/v1/models'),
    enabled: secret !== null,
  })
  return new Set(data?.data.filter(({ image_input: images }) => images !== undefined).map(({ id }) => id))
}

/** Entries of the next request. With an empty draft, the last request again, or a greeting in a new conversation. */
function nextEntries(entries: Entry[], written: TypedMessage[]): Entry[] {
  if (written.length > 0) return [...entries, ...written]
  if (entries.length === 0) return [{ kind: 'message', id: 'greeting', role: 'user', text: 'Hello!', images: [] }]
  return waitsForTools(entries.at(-1)) ? entries : entries.slice(0, -1)
}

/** Whether the conversation can be sent without a new message, for example with tool results. */
function waitsForTools(entry: Entry | undefined): boolean {
  return entry?.kind === 'message' || (entry?.columns.some(({ toolCalls }) => toolCalls.length > 0) ?? false)
}

/** Code samples for the next request, generated when opened. */
function ChatCodePart({ bodyOf }: { bodyOf: () => ChatBody }) {
  const baseUrl = useBaseUrl()
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>View code</summary>
      {isOpen && <CodePanel of={chatCode(baseUrl, bodyOf())} />}
    </details>
  )
}

/** Charge of the conversation so far. */
function SpentLine({ of }: { of: Conversation }) {
  const { micro, open, unknown } = spent(of)
  return (
    <span className="small" aria-label="Charged for this conversation" role="group">
      Conversation total:{' '}
      <strong>
        <Money micro={micro} />
      </strong>
      {open > 0 && <span className="soft"> ({several(open, 'charge')} pending)</span>}
      {unknown > 0 && <span className="soft"> ({several(unknown, 'charge')} unknown)</span>}
    </span>
  )
}

/** System message and parameters that apply to every request. */
function SettingsPanel({
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
          {shown.map(({ name, label, hint, kind, slider }) => (
            <Field key={name} label={label} hint={hint} fault={faults[name] ?? null}>
              {(ids) => {
                const value = typed[name] ?? ''
                const onChange = ({ target }: { target: { value: string } }) =>
                  onTyped({ ...typed, [name]: target.value })
                if (slider) return <SliderField ids={ids} slider={slider} value={value} onChange={onChange} />
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

/** Number field with a slider. The slider is for pointers only: the field has the same value and the label. */
function SliderField({
  ids,
  slider: { min, max, step, usual },
  value,
  onChange,
}: {
  ids: FieldIds
  slider: Slider
  value: string
  onChange: (event: { target: { value: string } }) => void
}) {
  const at = value.trim() === '' || Number.isNaN(Number(value)) ? usual : Number(value)
  return (
    <span className="playground-slider">
      <input
        type="range"
        aria-hidden="true"
        tabIndex={-1}
        min={min}
        max={max}
        step={step}
        value={at}
        onChange={onChange}
      />
      <input
        {...ids}
        inputMode="decimal"
        autoComplete="off"
        placeholder={String(usual)}
        value={value}
        onChange={onChange}
      />
    </span>
  )
}
