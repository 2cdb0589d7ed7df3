// Pins base images and actions: npm run pin -- [--check]. Needs Docker with buildx for images and git for actions,
// and the network. With --check it changes nothing, and fails if something is not pinned.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { pin, type Reference, unpinned } from './pinned.ts'
import { projectFolder } from './render.ts'

const run = promisify(execFile)
const say = (line: string) => void process.stdout.write(`${line}\n`)

const files = [
  'deploy/Dockerfile',
  'docker-compose.yml',
  'deploy/kubernetes/overlays/local/postgres.yaml',
  'deploy/kubernetes/overlays/local/redis.yaml',
  '.github/workflows/ci.yaml',
].map((file) => path.join(projectFolder, file))

async function pinOf({ kind, text }: Reference): Promise<string> {
  if (kind === 'image') {
    const format = ['--format', '{{.Manifest.Digest}}']
    const { stdout } = await run('docker', ['buildx', 'imagetools', 'inspect', text, ...format])
    return checked(text, stdout.trim(), /^sha256:[0-9a-f]{64}$/)
  }
  const [action = '', tag = ''] = text.split('@')
  const [owner, name] = action.split('/')
  const { stdout } = await run('git', [
    'ls-remote',
    `https://github.com/${owner}/${name}`,
    `refs/tags/${tag}^{}`,
    `refs/tags/${tag}`,
  ])
  // An annotated tag is an object itself; the line with ^{} names its commit, and comes last.
  return checked(text, stdout.trim().split('\n').at(-1)?.split('\t')[0] ?? '', /^[0-9a-f]{40}$/)
}

function checked(reference: string, found: string, form: RegExp): string {
  if (!form.test(found)) throw new Error(`There is no digest of ${reference}: ${found || 'nothing was found'}.`)
  return found
}

const wanted = [
  ...new Map(files.flatMap((file) => unpinned(readFileSync(file, 'utf8'))).map((one) => [one.text, one])).values(),
]
if (process.argv.includes('--check')) {
  for (const { text } of wanted) say(`not pinned: ${text}`)
  process.exitCode = wanted.length > 0 ? 1 : 0
} else {
  const pins = new Map<string, string>()
  for (const reference of wanted) pins.set(reference.text, await pinOf(reference))
  for (const file of files) writeFileSync(file, pin(readFileSync(file, 'utf8'), pins))
  for (const [reference, found] of pins) say(`${reference} ${found}`)
}
