from rocm_perf_lab.cli.main import main

main()
