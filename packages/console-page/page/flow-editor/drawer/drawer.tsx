import type { useSaving } from '../data/use-saving.ts'
import { useSession } from '../session.ts'
import { ExecutionsPanel, JsonPanel, RevisionsPanel, RunPanel } from '../lazy.ts'
import { ProblemsPanel } from './problems-panel.tsx'

export type DrawerTab = 'problems' | 'run' | 'executions' | 'json' | 'revisions'

/** Tabs below the canvas. Clicking the open tab closes the drawer. */
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
      {tab !== null && (
        <div className="drawer-panel" id={`flow-drawer-${tab}`}>
          {tab === 'problems' && <ProblemsPanel openForm={openForm} />}
          {tab === 'run' && <RunPanel saving={saving} />}
          {tab === 'executions' && <ExecutionsPanel sandbox={saving.sandbox.id} onShow={onShowExecution} />}
          {tab === 'json' && <JsonPanel />}
          {tab === 'revisions' && <RevisionsPanel saving={saving} />}
        </div>
      )}
    </section>
  )
}
