import { ask, at } from './api.js'
import { el, working } from './dom.js'
import { problemBox } from './parts.js'

/** Stops an execution of the project at `projectPath`; `stopped` is given its record. */
export function stopButton(projectPath, execution, stopped = () => {}) {
  const problem = problemBox()
  const button = el('button', { type: 'button', class: 'secondary' }, 'Stop')
  const stop = working(button, async () => {
    problem.clear()
    try {
      stopped(await ask('POST', `${projectPath}${at`/executions/${execution}/cancel`}`))
    } catch (error) {
      problem.show(error)
    }
  })
  button.addEventListener('click', stop)
  return el('div', { class: 'buttons' }, button, problem.element)
}

/** Whether an execution goes on and nobody has stopped it. */
export function canBeStopped({ completedAt, error }) {
  return completedAt === null && error === null
}
