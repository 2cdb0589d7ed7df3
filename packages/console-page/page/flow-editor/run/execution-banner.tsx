import { Link } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStore } from 'zustand'
import type { ExecutionDetail } from '@gateway/api/execution'
import { useScope } from '../../api/session.ts'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { Badge, Moment, Money } from '../../components/values.tsx'
import { executionStateLabels, executionTones } from '../../executions/execution-columns.tsx'
import { announce } from '../../frame/announcer.ts'
import { canvasModel } from '../core/canvas-model.ts'
import { placed } from '../core/placement.ts'
import { readingRevision } from '../data/use-opened-flow.ts'
import { valuesToType } from '../data/run-inputs.ts'
import { useSession } from '../state/open-editor.ts'
import { useRunStore } from './run-store.ts'

/**
 * Says which execution the canvas shows, and of which revision.
 * @param revision on the canvas; null if it has unsaved changes
 */
export function ExecutionBanner({
  opened,
  revision,
  onClose,
  onInputs,
}: {
  opened: ExecutionDetail
  revision: number | null
  onClose: () => void
  onInputs: () => void
}) {
  const scope = useScope()
  const client = useQueryClient()
  const { editor, products } = useSession()
  const run = useRunStore()
  const ended = useStore(run, ({ ended }) => ended)
  const [error, setError] = useState<unknown>(null)
  const { status, chargedMicro } = ended ?? opened
  const { input } = opened
  const view = async () => {
    setError(null)
    try {
      const read = readingRevision({ tenant: scope.tenant, sandbox: opened.sandbox }, opened.revision)
      const { graph } = await client.fetchQuery(read)
      editor.change(() => placed(canvasModel(graph, products)))
      announce(`Revision ${opened.revision} is on the canvas. Press Ctrl+Z to undo.`)
    } catch (failed) {
      setError(failed)
    }
  }
  return (
    <section className="execution-banner" aria-label="Execution on the canvas">
      <strong>
        Execution of <Moment iso={opened.createdAt} />
      </strong>
      <Badge tone={executionTones[status]} text={executionStateLabels[status]} />
      <Money micro={chargedMicro} />
      <span>revision {opened.revision}</span>
      <span className="buttons">
        {input && (
          <button
            type="button"
            className="button small"
            onClick={() => {
              run.setState({ taken: valuesToType(input) })
              onInputs()
            }}
          >
            Use its inputs
          </button>
        )}
        <Link className="button small" to="/projects/$tenant/$project/executions" params={scope}>
          Open in the list
        </Link>
        <button type="button" className="button small main" onClick={onClose}>
          Back to editing
        </button>
      </span>
      {revision !== opened.revision && (
        <p className="small">
          {revision === null ? 'The canvas has unsaved changes' : `The canvas shows revision ${revision}`}, and this
          execution ran revision {opened.revision}.{' '}
          <button type="button" className="button small" onClick={() => void view()}>
            View revision {opened.revision}
          </button>
        </p>
      )}
      <RefusalBox error={error} />
    </section>
  )
}
