import { execFileSync, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { ensureInstalled, environment, nodeBinary, projectFolder } from './install.js'

/**
 * Installs what is missing, then runs a program of this project under Node 24 in place of this process: same arguments,
 * streams, signals and exit code. `tied`: the program also stops when this process is gone, even by `kill -9`.
 */
export async function runProgram(file, { tied = false } = {}) {
  await ensureInstalled()
  standIn(nodeBinary, [join(projectFolder, file), ...process.argv.slice(2)], { tied })
}

/** The same for an installed tool. */
export async function runTool(name, args) {
  await ensureInstalled()
  standIn(join(projectFolder, 'node_modules', '.bin', name), args, { tied: false })
}

function standIn(command, args, { tied }) {
  const child = spawn(command, args, {
    env: environment(tied ? { STOP_WITH_PARENT: '1' } : {}),
    stdio: tied ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  if (tied) stopWhenNpmIsGone(() => child.kill('SIGTERM'))
  child.on('error', (error) => {
    process.stderr.write(`${command}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/**
 * npm starts us through a shell, and neither tells us when npm is killed. So both are looked at: the shell is our parent,
 * npm the shell's (or npm is our parent, where the shell gives way to us).
 */
function stopWhenNpmIsGone(stop) {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const grandparent = parentOf(parent)
  const watch = setInterval(() => {
    if (process.ppid === parent && (grandparent <= 1 || isAlive(grandparent))) return
    clearInterval(watch)
    stop()
  }, 1_000)
  watch.unref()
}

/** 0 where it can't be reported. */
function parentOf(pid) {
  try {
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim())
  } catch {
    return 0
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
