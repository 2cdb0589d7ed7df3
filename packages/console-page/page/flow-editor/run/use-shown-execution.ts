import { useEffect, useRef } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useStore } from 'zustand'
import { useRunStore } from './run-store.ts'
import { useShowExecution } from './use-show-execution.ts'

/** Keeps the execution on the canvas and the one in the URL in sync. */
export function useShownExecution(sandbox: string) {
  const from = '/projects/$tenant/$project/flows/$sandbox'
  const { execution } = useSearch({ from })
  const navigate = useNavigate({ from })
  const { error, show } = useShowExecution(sandbox)
  const onCanvas = useStore(useRunStore(), ({ executionId }) => executionId)
  const asked = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (execution !== undefined && asked.current !== execution) show(execution)
    asked.current = execution
  }, [execution, show])
  useEffect(() => {
    if (onCanvas === null || asked.current === onCanvas) return
    asked.current = onCanvas
    void navigate({ search: { execution: onCanvas }, replace: true })
  }, [onCanvas, navigate])
  return {
    error,
    isOpened: execution !== undefined,
    show: (chosen: string) => {
      asked.current = undefined
      if (chosen === execution) show(chosen)
      else void navigate({ search: { execution: chosen }, replace: true })
    },
  }
}
