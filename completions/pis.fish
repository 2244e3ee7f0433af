complete --keep-order --exclusive --command pis --arguments "(COMPLETE=fish pis -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
