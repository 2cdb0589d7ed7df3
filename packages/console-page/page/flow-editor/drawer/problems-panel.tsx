import { useReactFlow } from '@xyflow/react'
import type { GraphProblem } from '@gateway/api/graph'
import { useSession } from '../session.ts'

/** All problems and warnings, exactly as the server reports them. Each links to its node. */
export function ProblemsPanel({ openForm }: { openForm: () => void }) {
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
