import type { GraphProblem } from '@gateway/api/graph'

/** Problems of a node and how to fix them. */
export function NodeProblems({ problems }: { problems: readonly GraphProblem[] }) {
  if (problems.length === 0) return null
  return (
    <ul className="node-faults" aria-label="Problems of this node">
      {problems.map(({ code, port, message, resolution }) => (
        <li key={`${code} ${port} ${message}`}>
          <strong>{message}</strong>
          <span>{resolution}</span>
        </li>
      ))}
    </ul>
  )
}
