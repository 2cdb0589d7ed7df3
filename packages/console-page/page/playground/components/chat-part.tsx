import { useNavigate, useSearch } from '@tanstack/react-router'
import { newIdempotencyKey as newId } from '../../keys/new-idempotency-key.ts'
import { chatBody } from '../core/chat-body.ts'
import type { Conversation, Entry, TypedMessage } from '../core/conversation.ts'
import { nextEntries, waitsForTools } from '../core/next-entries.ts'
import { readParameters, shownParameters } from '../core/parameters.ts'
import type { UsedConversation } from '../data/use-conversation.ts'
import { useImageModels } from '../data/use-image-models.ts'
import type { useProducts } from '../../api/use-project.ts'
import { ChatCodePart } from './chat-code-part.tsx'
import { ChatEntries } from './chat-entries.tsx'
import { Composer } from './composer.tsx'
import { ModelChoice } from './model-choice.tsx'
import { SettingsPanel } from './settings-panel.tsx'
import { SpentLine } from './spent-line.tsx'

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
  const known = (id: string | undefined) => models.find((each) => each.id === id)
  const asked = [known(search.model) ?? models[0]!, known(search.compareWith)].filter((model) => model !== undefined)
  const shown = shownParameters(asked.flatMap(({ supportedParameters }) => supportedParameters))
  const { values, faults } = readParameters(conversation.parameters, shown)
  const choose = (name: 'model' | 'compareWith') => (model: string | undefined) =>
    void navigate({
      search: ({ [name]: _, ...others }) => ({ ...others, ...(model !== undefined && { [name]: model }) }),
    })

  const imageModels = useImageModels(secret)
  const { entries, draft } = conversation
  const isEmpty = draft.text === '' && draft.images.length === 0
  const cannot =
    secret === null
      ? 'Create a key or use an existing one to send messages.'
      : Object.keys(faults).length > 0
        ? 'Fix the parameters first.'
        : isEmpty && (entries.length === 0 || !waitsForTools(entries.at(-1)))
          ? 'Write a message first.'
          : null
  const canSend = secret !== null && Object.keys(faults).length === 0 && !isStreaming
  const written = (): TypedMessage[] => (isEmpty ? [] : [{ kind: 'message', id: newId(), ...draft }])
  const askFor = (next: Entry[], rest: Partial<Conversation> = {}) => {
    if (secret === null) return
    const sent = rest.parameters ? readParameters(rest.parameters, shown).values : values
    void used.askFor(next, { models: asked.map(({ id }) => id), values: sent, secret }, rest)
  }
  const emptied = { draft: { role: 'user' as const, text: '', images: [] } }
  return (
    <div className="playground-sides">
      <section className="card stack" aria-label="Models">
        <ModelChoice label="Model" models={models} chosen={asked[0]!.id} onChange={choose('model')} />
        <ModelChoice
          label="Compare with"
          none="None"
          models={models}
          chosen={asked[1]?.id}
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
        <Composer
          draft={draft}
          takesImages={asked.every(({ id }) => imageModels.has(id))}
          isStreaming={isStreaming}
          cannot={cannot}
          onChange={(next) => change({ draft: next })}
          onSend={() => askFor([...entries, ...written()], emptied)}
          onAdd={() => change({ entries: [...entries, ...written()], ...emptied })}
          onStop={used.stop}
        />
        {!used.isKept && <p className="notice">The images are too large to keep this conversation across a reload.</p>}
        <SpentLine of={conversation} />
        <ChatCodePart
          bodyOf={() =>
            chatBody(
              { ...conversation, entries: nextEntries(entries, written()) },
              { model: asked[0]!.id, column: 0, values },
            )
          }
        />
      </div>
      <SettingsPanel
        system={conversation.system}
        typed={conversation.parameters}
        shown={shown}
        faults={faults}
        onSystem={(system) => change({ system })}
        onTyped={(parameters) => change({ parameters })}
      />
    </div>
  )
}
