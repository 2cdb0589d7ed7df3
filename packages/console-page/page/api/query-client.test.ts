import { onlineManager } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { openQueryClient } from './query-client.ts'

test('a change is sent immediately even if the browser reports offline, and never queued', async () => {
  onlineManager.setOnline(false)
  try {
    const client = openQueryClient()
    const refused = new Error('not reached')
    const change = client.getMutationCache().build(client, { mutationFn: () => Promise.reject(refused) })
    await expect(change.execute(undefined)).rejects.toBe(refused)
    expect(change.state).toMatchObject({ status: 'error', isPaused: false })
  } finally {
    onlineManager.setOnline(true)
  }
})
