import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { canRender, componentNames, projectFolder, renderOverlay } from './render.ts'
import { workloadsOf } from './workloads.ts'

// The commands of deploy/kubernetes/README.md, without a cluster: what they name exists, and the secrets that they create are
// those that the pods read.

const possible = await canRender()
const run = promisify(execFile)
const text = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8')
const folder = 'deploy/kubernetes'
const readme = text(`${folder}/README.md`)
const commands = [...readme.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => block!.trim().split('\n'))

test('eleven commands lead from an empty cluster to the first call, and the scripts among them are there', async () => {
  expect(commands).toHaveLength(11)
  const scripts = commands.flatMap((command) => /\bsh (\S+\.sh)/.exec(command)?.[1] ?? [])
  expect(scripts).toHaveLength(4)
  for (const script of scripts) await run('sh', ['-n', path.join(projectFolder, folder, script)])
  const [, source, copy] = /^cp -r (\S+) (\S+)$/.exec(commands[0]!)!
  expect(existsSync(path.join(projectFolder, folder, source!))).toBe(true)
  expect(path.dirname(copy!)).toBe(path.dirname(source!)) // the paths in it stay right
  expect(commands.filter((command) => command.includes(copy!))).toHaveLength(3)
})

test('each request of the README is an operation of the API, at the address of the overlay', () => {
  const { paths } = JSON.parse(text('docs/openapi.json')) as { paths: Record<string, object> }
  const overlay = text(`${folder}/overlays/production/kustomization.yaml`)
  const requests = commands.filter((command) => command.startsWith('curl '))
  expect(requests).toHaveLength(2)
  for (const request of requests) {
    const [, host, operation] = /https:\/\/([^/]+)(\S+)/.exec(request)!
    expect(overlay).toContain(`PUBLIC_URL=https://${host} `)
    const method = /-X (\w+)/.exec(request)?.[1] ?? 'POST'
    expect(Object.keys(paths[operation!] ?? {})).toContain(method.toLowerCase())
    JSON.parse(/-d '([^']+)'/.exec(request)![1]!)
  }
})

test('each component is in the table of the README, and in the production overlay, on or off', async () => {
  const overlay = text(`${folder}/overlays/production/kustomization.yaml`)
  for (const name of await componentNames()) {
    expect(readme).toContain(`\`components/${name}\``)
    expect(overlay).toContain(`- ../../components/${name}`)
  }
})

test('where pods have a role, the overlay and the policy of the bucket name what gives it to them', () => {
  const [, role] = /^  # Of the bucket\.((?:.*\n  #)*.*)/m.exec(
    text(`${folder}/overlays/production/kustomization.yaml`),
  )!
  expect(role).toContain('pod-identity')
  expect(role).toContain('STS')
  expect(text(`${folder}/components/asset-store/network-policy.yaml`)).toMatch(/# CHANGE: .*\bSTS\b/)
})

test.skipIf(!possible)(
  'the secrets that pods of the production overlay need are created, with their keys',
  async () => {
    const created = new Map<string, string[]>()
    for (const [, name, keys] of text(`${folder}/production-secrets.sh`).matchAll(/^create (\S+) ((?:.|\\\n)+)$/gm))
      created.set(
        name!,
        [...keys!.matchAll(/(\S+)=\S+/g)].map(([, key]) => key!),
      )
    for (const command of commands) {
      const [, name] = /create secret generic (\S+)/.exec(command) ?? []
      const keys = [...command.matchAll(/--from-(?:file|literal)=([\w.-]+)/g)].map(([, key]) => key!)
      if (name) created.set(name, keys)
    }
    const manifests = await renderOverlay('production')
    for (const { pod } of workloadsOf(manifests)) {
      for (const { secret } of pod.volumes ?? []) if (secret) expect([...created.keys()]).toContain(secret.secretName)
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])])
        for (const { valueFrom } of container.env ?? []) {
          const { name, key, optional } = { optional: false, ...valueFrom?.secretKeyRef }
          if (name && (!optional || name === 'first-operator')) expect(created.get(name)).toContain(key)
        }
    }
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)
    const rollout = commands.find((command) => command.includes('rollout status'))!
    expect([...rollout.matchAll(/deploy\/(\w+)/g)].map(([, name]) => name!).toSorted()).toEqual(deployments.toSorted())
  },
)

/** Runs a script of deploy/kubernetes with a kubectl that answers as the cluster would. */
async function runScript(script: string, kubectl: string, args: string[] = [], env: Record<string, string> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'kubectl-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'kubectl'), `#!/bin/sh\n${kubectl}\n`, { mode: 0o700 })
  const options = { env: { PATH: `${folder}:${process.env['PATH']}`, FOLDER: folder, ...env } }
  return run('sh', [path.join(projectFolder, 'deploy/kubernetes', script), ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, said: stdout + stderr }),
  )
}

/** Keys that pods of the base read, in the secret of their service; not those that can be made again. */
const keysOfPods = readdirSync(path.join(projectFolder, folder, 'base')).flatMap((file) =>
  [
    ...text(`${folder}/base/${file}`).matchAll(
      /(?:\/run\/secrets\/|-secrets, key: )([\w-]+-key(?:-previous)?)\b(?!\.)/g,
    ),
  ].map(([, key]) => `${path.parse(file).name}-secrets/${key}`),
)

test('the keys that exist only in the cluster are named for a backup', () => {
  const keys = /^keys='(.+)'$/m.exec(text(`${folder}/production-secrets.sh`))![1]!.split(' ')
  const [, backup] = /^## Backup and restore\n([^]*?)\n## /m.exec(text('docs/operating.md'))!
  for (const key of keys) expect([key, backup]).toEqual([key, expect.stringContaining(`\`${key}\``)])
  expect(keysOfPods.map((key) => path.basename(key)).toSorted()).toEqual(
    keys.flatMap((key) => [key, `${key}-previous`]).toSorted(),
  )
})

test.skipIf(!possible)('the keys and the previous ones are copied, and no copy replaces an earlier one', async () => {
  const vault = await mkdtemp(path.join(tmpdir(), 'vault-'))
  onTestFinished(() => rm(vault, { recursive: true }))
  const { stdout } = await run('sh', ['-c', 'command -v kubectl'])
  const kubectl = `#!/bin/sh
case $* in *'get secret '*) ;; *) exit 1 ;; esac
for asked; do case $asked in *-secrets) secret=$asked ;; go-template=*) template=$asked ;; esac; done
exec ${stdout.trim()} create secret generic "$secret" --from-file="$SECRETS/$secret" --dry-run=client --output "$template"
`
  writeFileSync(path.join(vault, 'kubectl'), kubectl, { mode: 0o700 })
  const secrets = path.join(vault, 'secrets')
  const put = (key: string, value: string) => {
    mkdirSync(path.dirname(path.join(secrets, key)), { recursive: true })
    writeFileSync(path.join(secrets, key), value)
  }
  const command = commands.find((line) => line.includes('copy-keys.sh'))!
  const copy = (into: string) => {
    const script = path.join(projectFolder, folder, 'copy-keys.sh')
    const [, rest] = /^sh copy-keys\.sh( .+)$/.exec(command)!
    const env = { PATH: `${vault}:${process.env['PATH']}`, SECRETS: secrets }
    return run('sh', ['-c', `sh ${script}${rest!.replace(/\S+$/, into)}`], { cwd: vault, env })
  }
  const copied = (from: string) =>
    Object.fromEntries(
      readdirSync(path.join(vault, from)).map((name) => {
        expect(statSync(path.join(vault, from, name)).mode & 0o077).toBe(0)
        return [name, readFileSync(path.join(vault, from, name), 'utf8')]
      }),
    )

  const first = keysOfPods.filter((key) => !key.endsWith('-previous'))
  for (const key of first) put(key, `first of ${key}`)
  await copy('keys')
  const earlier = Object.fromEntries(first.map((key) => [path.basename(key), `first of ${key}`]))
  expect(copied('keys')).toEqual(earlier)

  for (const key of first) {
    put(key, `second of ${key}`)
    put(`${key}-previous`, `first of ${key}`)
  }
  await expect(copy('keys')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Name a new folder') })
  expect(copied('keys')).toEqual(earlier)
  await copy('later')
  expect(copied('later')).toEqual(
    Object.fromEntries(keysOfPods.map((key) => [path.basename(key), readFileSync(path.join(secrets, key), 'utf8')])),
  )

  // A cluster that does not answer, or lacks a key, leaves no folder that looks like a copy.
  writeFileSync(path.join(secrets, first[0]!), '')
  await expect(copy('lacking')).rejects.toMatchObject({ code: 1 })
  writeFileSync(path.join(vault, 'kubectl'), '#!/bin/sh\nexit 1\n', { mode: 0o700 })
  await expect(copy('silent')).rejects.toMatchObject({ code: 1 })
  writeFileSync(path.join(vault, 'kubectl'), '#!/bin/sh\nkill -TERM $PPID\n', { mode: 0o700 })
  await expect(copy('interrupted')).rejects.toMatchObject({ code: 1 })
  expect(readdirSync(vault).toSorted()).toEqual(['keys', 'kubectl', 'later', 'secrets'])
})

test('the wait for the migration ends when the job is complete, at once when it has failed, and in time', async () => {
  const job = (state: string) =>
    `case "$*" in *logs*) echo 'column "x" does not exist' ;; *'job migrate'*) ${state} ;; esac`
  // Under way at first, then complete.
  const complete = job(`[ -e "$FOLDER/seen" ] && echo 'SuccessCriteriaMet Complete'; touch "$FOLDER/seen"`)
  expect(await runScript('wait-for-migration.sh', complete)).toEqual({ code: 0, said: '' })
  const failed = await runScript('wait-for-migration.sh', job('echo FailureTarget Failed'))
  expect(failed.code).toBe(1)
  expect(failed.said).toMatch(/column "x" does not exist[^]*The migration failed, and nothing was rolled out/)
  const late = await runScript('wait-for-migration.sh', job('true'), [], { TIMEOUT: '0' })
  expect(late).toEqual({ code: 1, said: expect.stringContaining('The migration has not ended.') })
})

test('the check of a cluster names an old server and each API that it lacks, with the cure', async () => {
  const cluster = (minor: string, ...known: string[]) => `
case "$*" in
  'get --raw /version') echo '{ "major": "1", "minor": "${minor}", "gitVersion": "v1" }' ;;
  api-versions) printf '%s\\n' ${known.join(' ')} ;;
  kustomize*) printf 'apiVersion: %s\\nkind: HorizontalPodAutoscaler\\n' apps/v1 keda.sh/v1alpha1 monitoring.coreos.com/v1 ;;
esac`
  const check = (kubectl: string) => runScript('check-cluster.sh', kubectl, ['an/overlay'])
  const all = ['v1', 'apps/v1', 'keda.sh/v1alpha1', 'monitoring.coreos.com/v1', 'metrics.k8s.io/v1beta1']
  expect(await check(cluster('30', ...all))).toEqual({ code: 0, said: '' })
  expect(await check(cluster('33+', ...all))).toEqual({ code: 0, said: '' })
  const { code, said } = await check(cluster('28', 'v1', 'apps/v1'))
  expect([code, said.trim().split('\n')]).toEqual([
    1,
    [
      'Kubernetes 1.30 or later is needed; the server has 1.28.',
      'keda.sh/v1alpha1: install KEDA, or leave out the component keda.',
      'monitoring.coreos.com/v1: install the Prometheus operator, or leave out the component prometheus-operator.',
      'metrics.k8s.io: install metrics-server: gateway and ledger are scaled by their processors.',
    ],
  ])
})

test('the check of a cluster fails if the overlay does not render', async () => {
  const kubectl = `case "$*" in kustomize*) echo 'no such component' >&2; exit 1 ;; get*) echo '"minor": "30"' ;; esac`
  expect(await runScript('check-cluster.sh', kubectl, ['an/overlay'])).toEqual({ code: 1, said: 'no such component\n' })
})

test('the least version is the same in the README and in the check', () => {
  const [, least] = /^oldest=(\d+)$/m.exec(text(`${folder}/check-cluster.sh`))!
  expect(readme).toContain(`Kubernetes 1.${least} or later`)
})

test('git ignores the files with secrets that the first start leaves in the folder', () => {
  const ignored = readFileSync(path.join(projectFolder, '.gitignore'), 'utf8').split('\n')
  const text = commands.join('\n')
  const files = [...text.matchAll(/--from-file=([\w.-]+)/g), ...text.matchAll(/copy-keys\.sh (\w+)/g)].map(
    ([, name]) => name!,
  )
  expect(files.length).toBeGreaterThan(2)
  for (const name of files)
    expect(ignored.some((line) => line.replace(/\/$/, '') === `deploy/kubernetes/${name}`)).toBe(true)
})
