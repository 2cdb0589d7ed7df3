import { lazy, Suspense, useEffect, useMemo } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { useScope, useProducts, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { spent } from './core/spent.ts'
import { keptIn } from './data/kept.ts'
import { useConversation } from './data/use-conversation.ts'
import { usePlaygroundKey } from './data/use-playground-key.ts'
import { ChatPart } from './components/chat-part.tsx'
import { KeyCard } from './components/key-card.tsx'
import { KeyLine } from './components/key-line.tsx'
import { OpenCharges } from './components/open-charges.tsx'
import { PlaygroundTabs } from './components/playground-tabs.tsx'
import './style/playground.css'

/** Tries models and flows, with the charge of each response. */
export function PlaygroundScreen() {
  const { project } = useScope()
  const { id: user } = useMe()
  return <Playground key={project} user={user} project={project} />
}

// Loaded on demand, because it includes parts of the flow editor.
const FlowPart = lazy(async () => ({ default: (await import('./flow/flow-part.tsx')).FlowPart }))

function Playground({ user, project }: { user: string; project: string }) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/playground' })
  const { flow } = useSearch({ from: '/projects/$tenant/$project/playground' })
  const kept = useMemo(() => keptIn({ user, project }), [user, project])
  const used = useConversation(kept)
  const key = usePlaygroundKey(kept)
  const { products, isPending, error } = useProducts()
  const models = products.filter(({ kind }) => kind === 'chat')
  const client = useQueryClient()
  const { micro } = spent(used.conversation)
  useEffect(() => {
    for (const path of ['/v1/key', '/api/v2/tenants/{tenant}/projects/{project}/wallet'])
      void client.invalidateQueries({ queryKey: [path] })
  }, [client, micro])
  const clear = (
    <button
      type="button"
      className="button"
      disabled={used.isStreaming || used.conversation.entries.length === 0}
      onClick={used.clear}
    >
      New conversation
    </button>
  )
  return (
    <Screen title="Playground" of={useProjectName()} actions={flow === undefined ? clear : null}>
      <PlaygroundTabs />
      <OpenCharges of={used} secret={key.key?.secret} />
      {flow === undefined ? (
        <>
          <RefusalBox error={error} />
          {isPending && !error && <Waiting what="models" />}
          {!isPending && !error && models.length === 0 && (
            <EmptyState title="No models to try yet">
              Ask an Admin of the organization to assign a model to this project.
            </EmptyState>
          )}
          {models.length > 0 && (
            <div className="playground stack">
              {key.key ? <KeyLine of={key} /> : <KeyCard of={key} />}
              <ChatPart used={used} models={models} secret={key.key?.secret ?? null} onOtherKey={key.replace} />
            </div>
          )}
        </>
      ) : (
        <div className="playground stack">
          <Suspense fallback={<Waiting what="flows" />}>
            <FlowPart
              flow={flow}
              onFlow={(next) => void navigate({ search: (before) => ({ ...before, flow: next }) })}
            />
          </Suspense>
        </div>
      )}
    </Screen>
  )
}
