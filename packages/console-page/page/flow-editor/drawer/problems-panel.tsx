import { useReactFlow } from '@xyflow/react'
import type { GraphProblem } from '@gateway/api/graph'
import { useSession } from '../session.ts'

/** All problems, exactly as the server reports them. Each links to its node. */
export function ProblemsPanel({ openForm }: { openForm: () => void }) {
  const { editor, model } = useSession()
  const flow = useReactFlow()
  if (model.problems.length === 0) return <p className="soft">No problems. Ready to activate.</p>
  const show = ({ node }: GraphProblem) => {
    const at = model.nodes.find((drawn) => drawn.node.id === node)
    if (!at) return editor.select([])
    editor.select([at.key])
    void flow.fitView({ nodes: [{ id: at.key }], maxZoom: 1, padding: 0.6 })
    openForm()
  }
  return (
    <ul className="flow-problems">
      {model.problems.map((problem) => (
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
