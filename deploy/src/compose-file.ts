import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { projectFolder } from './render.ts'

// The part of the compose specification that docker-compose.yml uses, strictly: a misspelled word would else be found by
// anyone who starts it.

const texts = z.array(z.string())
const duration = z.string().regex(/^(\d+(ms|s|m|h))+$/)

const healthcheck = z.strictObject({
  test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])]).rest(z.string()),
  interval: duration,
  timeout: duration,
  retries: z.int().min(1),
  start_period: duration.optional(),
  start_interval: duration.optional(),
})

/** A short text, or the long form for a path that the user names: in a short one Docker would create what is not there. */
const volume = z.union([
  z.string().regex(/^[^$]+$/, 'a path that the user names needs the long form'),
  z
    .strictObject({
      type: z.literal('bind'),
      source: z.string(),
      target: z.string(),
      read_only: z.literal(true),
      bind: z.strictObject({ create_host_path: z.literal(false) }),
    })
    .transform(({ source, target }) => `${source}:${target}:ro`),
])

const service = z.strictObject({
  image: z.string().optional(),
  build: z.strictObject({ context: z.literal('.'), dockerfile: z.string(), target: z.string() }).optional(),
  command: texts.optional(),
  entrypoint: texts.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.array(z.strictObject({ path: z.string(), required: z.boolean() })).optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\$\{[A-Z_]+:-\d+\}:\d+$/, 'must be of this machine alone')).optional(),
  networks: texts.optional(),
  network_mode: z.literal('none').optional(),
  volumes: z.array(volume).default([]),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({
        condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
      }),
    )
    .default({}),
  healthcheck: healthcheck.optional(),
  profiles: texts.optional(),
  restart: z.enum(['no', 'unless-stopped']).optional(),
  stop_grace_period: duration.optional(),
  shm_size: z.string().optional(),
  mem_limit: z.string().regex(/^\d+[mg]$/),
  pids_limit: z.int(),
  pull_policy: z.literal('never').optional(),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: texts.optional(),
  cap_add: texts.optional(),
  security_opt: texts.optional(),
  tmpfs: texts.optional(),
})

const composeFile = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.strictObject({})),
})

export type ComposeFile = z.output<typeof composeFile>
export type ComposeService = ComposeFile['services'][string]

/**
 * docker-compose.yml with its anchors resolved.
 * @throws ZodError for what is not compose, or not used here so far
 */
export function readComposeFile(): ComposeFile {
  const text = readFileSync(path.join(projectFolder, 'docker-compose.yml'), 'utf8')
  const all = parse(text, { merge: true }) as Record<string, unknown>
  return composeFile.parse(Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('x-'))))
}

/** A value as it is where no one set a variable: `${NAME:-default}` is the default. */
export function asByDefault(text: string): string {
  return text.replaceAll(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1')
}
