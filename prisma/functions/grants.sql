-- Grants for the functions and views of this folder. Applied after every change of the folder.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA control, money FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA money TO svc_ledger;
GRANT SELECT ON
  money.callers,
  money.callable_models,
  money.callable_sandboxes,
  money.flow_packages,
  money.active_packages,
  money.execution_callers
TO svc_ledger;
GRANT EXECUTE ON FUNCTION control.seal_audit, control.forget_audit, control.end_webhook,
  control.end_webhooks, control.set_default_alerts TO svc_console;
