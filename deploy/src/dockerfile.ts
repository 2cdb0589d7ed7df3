import { readFileSync } from 'node:fs'
import path from 'node:path'
import { projectFolder } from './render.ts'

export interface Stage {
  from: string
  lines: string[]
}

/** The stages of deploy/Dockerfile by name, each with its instructions, continued lines joined. */
export function dockerStages(): Record<string, Stage> {
  const text = readFileSync(path.join(projectFolder, 'deploy/Dockerfile'), 'utf8')
  const stages: Record<string, Stage> = {}
  let stage: Stage | null = null
  for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, from = '', name = ''] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? []
    if (name) stages[name] = stage = { from, lines: [] }
    else stage?.lines.push(line)
  }
  return stages
}

/** The stages that become images: those that run something. */
export function dockerTargets(): Record<string, Stage> {
  return Object.fromEntries(
    Object.entries(dockerStages()).filter(([, { lines }]) => lines.some((line) => line.startsWith('CMD '))),
  )
}
