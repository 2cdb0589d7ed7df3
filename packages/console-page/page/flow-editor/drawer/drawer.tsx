import { useState } from 'react'
import type { useSaving } from '../data/use-saving.ts'
import { useSession } from '../state/open-editor.ts'
import { ExecutionsPanel, JsonPanel, RevisionsPanel, RunPanel } from '../lazy.ts'
import { useReactFlow } from '@xyflow/react'
import type { GraphProblem } from '@gateway/api/graph'

export type DrawerTab = 'problems' | 'run' | 'executions' | 'json' | 'revisions'

/**
 * Tabs below the canvas. Clicking the open tab closes the drawer. Once opened, the form that runs the flow stays behind
 * the other tabs: half-typed inputs are only in its fields.
 */
export function Drawer({
  tab,
  onTab,
  saving,
  openForm,
  onShowExecution,
}: {
  tab: DrawerTab | null
  onTab: (tab: DrawerTab | null) => void
  saving: ReturnType<typeof useSaving>
  openForm: () => void
  onShowExecution: (execution: string) => void
}) {
  const { problems, warnings } = useSession().model
  const [hasRun, setHasRun] = useState(false)
  if (tab === 'run' && !hasRun) setHasRun(true)
  const found = problems.length + warnings.length
  const tabs = [
    { id: 'problems', title: found > 0 ? `Problems (${found})` : 'Problems' },
    { id: 'run', title: 'Run' },
    { id: 'executions', title: 'Executions' },
    { id: 'json', title: 'JSON' },
    { id: 'revisions', title: 'Revisions' },
  ] as const
  return (
    <section className="flow-drawer" aria-label="Details">
      <div className="drawer-tabs">
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            aria-expanded={tab === id}
            aria-controls={`flow-drawer-${id}`}
            onClick={() => onTab(tab === id ? null : id)}
          >
            {title}
          </button>
        ))}
      </div>
      {(tab === 'run' || hasRun) && (
        <div className="drawer-panel" id="flow-drawer-run" hidden={tab !== 'run'}>
          <RunPanel saving={saving} />
        </div>
      )}
      {tab !== null && tab !== 'run' && (
        <div className="drawer-panel" id={`flow-drawer-${tab}`}>
          {tab === 'problems' && <ProblemsPanel openForm={openForm} />}
          {tab === 'executions' && <ExecutionsPanel sandbox={saving.sandbox.id} onShow={onShowExecution} />}
          {tab === 'json' && <JsonPanel />}
          {tab === 'revisions' && <RevisionsPanel saving={saving} />}
        </div>
      )}
    </section>
  )
}

/** All problems and warnings, exactly as the server reports them. Each links to its node. */
function ProblemsPanel({ openForm }: { openForm: () => void }) {
  const { editor, model } = useSession()
  const flow = useReactFlow()
  const show = ({ node }: GraphProblem) => {
    const at = model.nodes.find((drawn) => drawn.node.id === node)
    if (!at) return editor.select([])
    editor.select([at.key])
    void flow.fitView({ nodes: [{ id: at.key }], maxZoom: 1, padding: 0.6 })
    openForm()
  }
  return (
    <>
      {model.problems.length === 0 && <p className="soft">No problems. Ready to activate.</p>}
      <Listed problems={model.problems} show={show} />
      {model.warnings.length > 0 && <h3 className="small">Warnings</h3>}
      <Listed problems={model.warnings} show={show} />
    </>
  )
}

function Listed({ problems, show }: { problems: GraphProblem[]; show: (problem: GraphProblem) => void }) {
  if (problems.length === 0) return null
  return (
    <ul className="flow-problems">
      {problems.map((problem) => (
        <li key={JSON.stringify(problem)}>
          <button type="button" onClick={() => show(problem)}>
            <code>{problem.node ?? 'flow'}</code>
            <span>
              {problem.message} <span className="soft">{problem.resolution}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
