WatchTool.main()
